#include "tokenizer/special_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace kvasir {
namespace {

class SpecialTokensTest : public ::testing::Test {
 protected:
  // "begin-end:id" of every match in order.
  std::string Matches(std::string_view text, bool parse_special) {
    tokens_.Prepare();
    std::string matches;
    size_t at = 0;
    while (const auto match = tokens_.Find(text, at, parse_special)) {
      matches += std::to_string(match->begin) + "-" + std::to_string(match->end) + ":" +
                 std::to_string(match->id) + " ";
      at = match->end;
    }
    return matches;
  }

  SpecialTokens tokens_;
};

TEST_F(SpecialTokensTest, NoneAreFoundWhereThereAreNone) {
  EXPECT_EQ(Matches("<s>", true), "");
  tokens_.Add("", 7, true);
  EXPECT_EQ(Matches("<s>", true), "") << "an empty spelling is everywhere";
}

TEST_F(SpecialTokensTest, TheLongestAtAPlaceIsFoundAndTheEarliestPlace) {
  tokens_.Add("<a", 1, false);
  tokens_.Add("<a>", 2, false);
  tokens_.Add("<a>>>", 3, false);
  tokens_.Add(">>x", 4, false);
  EXPECT_EQ(Matches("<a>> <a>>> <a <", true), "0-3:2 5-10:3 11-13:1 ");
  EXPECT_EQ(Matches("<a>>x", true), "0-3:2 ") << "the longer one begins later";
}

TEST_F(SpecialTokensTest, OnlyThoseAlwaysFoundAreFoundUnasked) {
  tokens_.Add("<a>", 1, false);
  tokens_.Add("<a>b", 2, true);
  tokens_.Add("<", 3, true);
  EXPECT_EQ(Matches("<a>b<a>", false), "0-4:2 4-5:3 ");
  EXPECT_EQ(Matches("<a>b<a>", true), "0-4:2 4-7:1 ");
}

TEST_F(SpecialTokensTest, OfEqualSpellingsTheFirstOrTheOneAlwaysFoundCounts) {
  tokens_.Add("x", 5, false);
  tokens_.Add("x", 6, false);
  tokens_.Add("y", 7, false);
  tokens_.Add("y", 8, true);
  EXPECT_EQ(Matches("xy", true), "0-1:5 1-2:8 ");
}

TEST_F(SpecialTokensTest, SpellingsMayHoldAnyBytes) {
  tokens_.Add(std::string("\0\xff", 2), 1, true);
  tokens_.Add("\xe2\x96\x81\xe2\x96\x81", 2, true);
  EXPECT_EQ(Matches(std::string_view("a\0\xff\0", 4), false), "1-3:1 ");
  EXPECT_EQ(Matches("\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81", false), "0-6:2 ");
}

TEST_F(SpecialTokensTest, WhiteSpaceThatATokenTakesIsPartOfIt) {
  tokens_.Add("<l>", 1, true, {true, false});
  tokens_.Add("<r>", 2, true, {false, true});
  EXPECT_EQ(Matches(" a <l> <r> b", true), "2-6:1 7-11:2 ");
  EXPECT_EQ(Matches("<r>\xc2\xa0 <l>\n", true), "0-6:2 6-9:1 ") << "what one took is gone";
  EXPECT_EQ(Matches("\xe3\x80\x80\n<l>", true), "0-7:1 ");
}

TEST_F(SpecialTokensTest, ManyTokensWithOneBeginningDoNotSlowEveryPlaceDown) {
  for (int i = 0; i < 50000; ++i) tokens_.Add("<" + std::to_string(i) + "|", i, true);
  EXPECT_EQ(Matches(std::string(1 << 20, '<') + "49999|", false), "1048575-1048582:49999 ");
}

}  // namespace
}  // namespace kvasir
