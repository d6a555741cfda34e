// Vocabularies that the sentencepiece library alone would refuse, or get wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "small_vocabulary.h"

namespace kvasir {
namespace {

using Ids = std::vector<TokenId>;

TEST(OddVocabularyTest, AControlTokenSpelledLikeTextDoesNotSwallowIt) {
  SmallVocabulary small;
  const TokenId mark = small.Add(kMark);
  const TokenId a = small.Add("a");
  const TokenId b = small.Add("b");
  const TokenId ab = small.Add("ab");
  small.Add("a", TokenKind::kControl);
  small.Add("ab", TokenKind::kControl);
  EXPECT_EQ(small.Encode("ab ba"), (Ids{mark, ab, mark, b, a}));
}

TEST(OddVocabularyTest, TextSpelledLikeAByteTokenIsText) {
  SmallVocabulary small;
  const TokenId bytes = small.AddBytes();
  small.vocabulary.add_space_prefix = false;
  for (const char* piece : {"<", "0", "x", "4", "1", ">", "<0", "<0x", "<0x4", "<0x41"}) {
    small.Add(piece);
  }
  small.Add("<0x41>");
  const Ids ids = small.Encode("<0x41>");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), bytes + 0x41), 0);
  EXPECT_EQ(small.Make()->Decode(ids), "<0x41>");
}

TEST(OddVocabularyTest, OfEqualTokensTheLastCountsAndAllAreDecoded) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  const TokenId first = small.Add("a");
  const TokenId second = small.Add("a");
  EXPECT_EQ(small.Encode("a"), Ids{second});
  EXPECT_EQ(small.Make()->Decode(Ids{first, second}), "aa");
}

TEST(OddVocabularyTest, EmptyTokensAddNothing) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  small.Add("");
  const TokenId a = small.Add("a");
  small.Add("");
  small.Add("", TokenKind::kControl);
  small.Add("", TokenKind::kUserDefined);
  EXPECT_EQ(small.Encode("aa", true), (Ids{a, a}));
  EXPECT_EQ(small.Make()->Decode(Ids{3, a, 5}, true), "a");
}

TEST(OddVocabularyTest, TokensWithInvalidUtf8AreNeverFoundInText) {
  SmallVocabulary small;
  const TokenId bytes = small.AddBytes();
  small.vocabulary.add_space_prefix = false;
  small.Add("\xff");
  small.Add(
      "\xff"
      "1");
  small.Add("\xc3");
  EXPECT_EQ(small.Encode("\xff"), (Ids{bytes + 0xef, bytes + 0xbf, bytes + 0xbd}));
}

TEST(OddVocabularyTest, WithoutAnUnknownTokenTokenZeroIsAnOrdinaryOne) {
  SmallVocabulary small;
  small.vocabulary.unknown = kNoToken;
  small.vocabulary.add_space_prefix = false;
  small.spellings[0] = "a";
  small.vocabulary.kinds[0] = static_cast<int32_t>(TokenKind::kNormal);
  EXPECT_EQ(small.Encode("aza"), (Ids{0, 0})) << "what is not covered has no token";
  EXPECT_EQ(small.Make()->Decode(Ids{0, 0}), "aa");
}

TEST(OddVocabularyTest, SeveralUnknownTokensAreAllowed) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  small.Add("<unk2>", TokenKind::kUnknown);
  EXPECT_EQ(small.Encode("z"), Ids{0});
  small.vocabulary.unknown = 3;
  EXPECT_EQ(small.Encode("z"), Ids{3});
}

TEST(OddVocabularyTest, ALongRunOfUnknownTextIsOneTokenFoundInLinearTime) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  const TokenId a = small.Add("a");
  EXPECT_EQ(small.Encode("a" + std::string(1 << 18, 'z') + "a"), (Ids{a, 0, a}));
}

TEST(OddVocabularyTest, WithoutKindsBytesAndSpecialTokensAreKnownByTheirNames) {
  SmallVocabulary small;
  const TokenId bytes = small.AddBytes();
  const TokenId mark = small.Add(kMark);
  small.vocabulary.kinds.clear();
  EXPECT_EQ(small.Encode("\n"), (Ids{mark, bytes + '\n'}));
  EXPECT_EQ(small.Encode("</s>", true), Ids{2});
  EXPECT_TRUE(small.Make()->IsSpecial(0));
  EXPECT_EQ(small.Make()->Decode(Ids{1, bytes + '\n', 2}), "\n");
}

TEST(OddVocabularyTest, UserDefinedRunsOfSpacesAreFoundInText) {
  for (const std::string& spelling : {kMark + kMark, std::string("  ")}) {
    SmallVocabulary small;
    small.vocabulary.add_space_prefix = false;
    const TokenId spaces = small.Add(spelling, TokenKind::kUserDefined);
    const TokenId mark = small.Add(kMark);
    const TokenId a = small.Add("a");
    EXPECT_EQ(small.Encode("a   a"), (Ids{a, spaces, mark, a}));
    EXPECT_EQ(small.Make()->Decode(small.Encode("a   a")), "a   a");
  }
}

TEST(OddVocabularyTest, UnusedTokensAreFoundAndDecoded) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  small.Add("a");
  small.Add("b");
  const TokenId ab = small.Add("ab", TokenKind::kUnused);
  EXPECT_EQ(small.Encode("ab"), Ids{ab});
  EXPECT_EQ(small.Make()->Decode(Ids{ab}), "ab");
}

TEST(OddVocabularyTest, NothingIsPrinted) {
  std::ostringstream printed;
  std::streambuf* const cerr_buffer = std::cerr.rdbuf(printed.rdbuf());
  SmallVocabulary small;
  small.Encode("text");
  small.vocabulary.kinds[0] = 77;
  (void)MakeSentencePieceTokenizer(small.vocabulary);
  (void)MakeSentencePieceTokenizer(std::string_view("\x0a\x05no model"));
  std::cerr.rdbuf(cerr_buffer);
  EXPECT_EQ(printed.str(), "");
}

TEST(OddVocabularyTest, InvalidBytesAreReplacedByMaximalParts) {
  SmallVocabulary small;
  small.vocabulary.add_space_prefix = false;
  const TokenId replacement = small.Add("\xef\xbf\xbd");
  EXPECT_EQ(small.Encode("\xf0\x9f\x98"), Ids{replacement});
  EXPECT_EQ(small.Encode("\xed\xa0\x80"), Ids(3, replacement));
}

}  // namespace
}  // namespace kvasir
