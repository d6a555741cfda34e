#include "tokenizer/utf8.h"

#include <gtest/gtest.h>

namespace kvasir {
namespace {

struct Case {
  std::string bytes;
  std::string whole;  // decided at once
  std::string held;   // may still become a code point
};

TEST(Utf8Test, WholeCodePointsPassAndInvalidOnesAreReplacedAsTheWebDoes) {
  const std::string r = "\xef\xbf\xbd";
  const Case cases[] = {
      {"plain", "plain", ""},
      {"\xc3\xa9", "\xc3\xa9", ""},
      {"a\xc3", "a", "\xc3"},
      {"\xe2\x82", "", "\xe2\x82"},
      {"\xf0\x9f\x98", "", "\xf0\x9f\x98"},
      {"\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80!", ""},
      {"\x80", r, ""},                          // a continuation alone
      {"\xc0\xaf", r + r, ""},                  // overlong
      {"\xe0\x80\xaf", r + r + r, ""},          // overlong
      {"\xed\xa0\x80", r + r + r, ""},          // a surrogate
      {"\xf4\x90\x80\x80", r + r + r + r, ""},  // beyond U+10FFFF
      {"\xf5\x80", r + r, ""},
      {"\xe2\x82"
       "a",
       r + "a", ""},  // broken off: one replacement
      {"\xf0\x9f\x98"
       "a",
       r + "a", ""},
      {"\xc3\xc3\xa9", r + "\xc3\xa9", ""},
      {std::string("\0x", 2), std::string("\0x", 2), ""},
  };
  for (const Case& c : cases) {
    std::string bytes = c.bytes;
    EXPECT_EQ(TakeWholeUtf8(bytes), c.whole) << ::testing::PrintToString(c.bytes);
    EXPECT_EQ(bytes, c.held) << ::testing::PrintToString(c.bytes);
  }
}

TEST(Utf8Test, BytesOneByOneGiveTheSameText) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82z\xed\xa0\x80";
  std::string whole = text;
  const std::string expected = TakeAllUtf8(whole);
  std::string pending, got;
  for (char byte : text) {
    pending += byte;
    got += TakeWholeUtf8(pending);
  }
  EXPECT_EQ(got + TakeAllUtf8(pending), expected);
}

TEST(Utf8Test, WhatIsIncompleteAtTheEndIsReplacedOnce) {
  std::string bytes = "a\xf0\x9f\x98";
  EXPECT_EQ(TakeAllUtf8(bytes), "a\xef\xbf\xbd");
  EXPECT_EQ(bytes, "");
}

TEST(Utf8Test, WhiteSpaceIsCountedInBytes) {
  EXPECT_EQ(LeadingWhiteSpace(" \t\r\n\v\f\xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\xa8\xe3\x80\x80x "),
            19u);
  EXPECT_EQ(TrailingWhiteSpace(" x\xe2\x81\x9f\xe2\x80\xaf\xe2\x80\x8a \n"), 11u);
  EXPECT_EQ(LeadingWhiteSpace("\xe2\x80\x8b"), 0u) << "a space of no width is none";
  EXPECT_EQ(TrailingWhiteSpace("\x80"), 0u);
  EXPECT_EQ(LeadingWhiteSpace("  "), 2u);
  EXPECT_EQ(TrailingWhiteSpace(""), 0u);
}

}  // namespace
}  // namespace kvasir
