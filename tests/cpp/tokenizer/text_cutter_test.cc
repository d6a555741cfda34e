#include "tokenizer/text_cutter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/word_cache.h"

namespace kvasir {
namespace {

constexpr size_t kPart = TextCutter::kPartBytes;

TEST(TextCutterTest, ShortTextStaysWhole) {
  TextCutter cutter;
  cutter.Prepare();
  EXPECT_EQ(cutter.FirstPart(""), 0u);
  EXPECT_EQ(cutter.FirstPart(std::string(kPart, 'a')), kPart);
}

TEST(TextCutterTest, NoCutBetweenNeighboursInAPiece) {
  TextCutter cutter;
  cutter.AddPiece("aa");
  cutter.AddPiece(
      "\xe2\x96\x81"
      "b");
  cutter.Prepare();
  EXPECT_EQ(cutter.FirstPart(std::string(5000, 'a')), 5000u);
  EXPECT_EQ(cutter.FirstPart(std::string(3000, 'a') + "ba"), 3000u);
  // A space is what U+2581 stands for.
  EXPECT_EQ(cutter.FirstPart(std::string(kPart + 1, 'a') + " b"), kPart + 1) << "a| b";
  EXPECT_EQ(cutter.FirstPart(std::string(kPart, 'a') + " ba"), kPart + 2) << "a b|a";
}

TEST(TextCutterTest, CutsLieBetweenCodePoints) {
  TextCutter cutter;
  cutter.Prepare();
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    while (text.size() < kPart + 100) text += "\xf0\x9f\x98\x80";
    const size_t length = cutter.FirstPart(text);
    EXPECT_EQ((length - shift) % 4, 0u);
    EXPECT_GE(length, kPart);
    EXPECT_LT(length, kPart + 8);
  }
}

TEST(TextCutterTest, ManyPiecesAreAllKept) {
  TextCutter cutter;
  for (int i = 0; i < 20000; ++i) {
    for (const char* piece : {"xy", "yx", "ab"}) cutter.AddPiece(piece);
  }
  cutter.Prepare();
  std::string text;
  while (text.size() < 2 * kPart) text += "xy";
  EXPECT_EQ(cutter.FirstPart(text), text.size());
}

TEST(TextCutterTest, AWordEndsAtASpaceThatNoTokenReachesAcross) {
  TextCutter cutter;
  for (const char* piece : {"ab",
                            "\xe2\x96\x81"
                            "ab",
                            "c\xe2\x96\x81"})
    cutter.AddPiece(piece);
  cutter.Prepare();
  EXPECT_EQ(cutter.FirstWord(" ab ab"), 3u);
  EXPECT_EQ(cutter.FirstWord("  ab"), 1u);
  EXPECT_EQ(cutter.FirstWord("c ab c ab a"), 4u) << "a piece has a space behind its c";
  EXPECT_EQ(cutter.FirstWord("ab\xe2\x96\x81"), 2u) << "a space may be spelled with its mark";
  EXPECT_EQ(cutter.FirstWord("abab"), 4u);
  EXPECT_EQ(cutter.FirstWord(""), 0u);
}

TEST(WordCacheTest, AWordIsEncodedOnceAndGivesTheSameTokensAgain) {
  WordCache cache;
  std::vector<TokenId> ids;
  int encoded = 0;
  const auto encode = [&](std::string_view word) {
    ++encoded;
    for (char c : word) ids.push_back(c);
  };
  const std::string text = "abcab";
  cache.Encode(std::string_view(text).substr(0, 2), ids, encode);
  cache.Encode(std::string_view(text).substr(2, 1), ids, encode);
  cache.Encode(std::string_view(text).substr(3, 2), ids, encode);
  EXPECT_EQ(ids, (std::vector<TokenId>{'a', 'b', 'c', 'a', 'b'}));
  EXPECT_EQ(encoded, 2);
}

}  // namespace
}  // namespace kvasir
