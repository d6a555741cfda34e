#include "tokenizer/charsmap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "charsmap_builder.h"

namespace kvasir {
namespace {

TEST(CharsmapTest, ASoundOneIsSafe) { EXPECT_TRUE(IsSafeCharsmap(CharsmapBuilder().Write())); }

TEST(CharsmapTest, EveryCutIsUnsafe) {
  const std::string whole = CharsmapBuilder().Write();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(IsSafeCharsmap(std::string_view(whole).substr(0, length))) << length;
  }
}

TEST(CharsmapTest, AStepBeyondTheTrieIsUnsafe) {
  CharsmapBuilder builder;
  builder.units[0] = uint32_t{512} << 10;
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
  builder.units[0] = uint32_t{0x1fffff} << 10 | 1u << 9;
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
  builder.units[0] = 0x80000000u | uint32_t{512} << 10;  // a root that claims to be a leaf
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
  builder = CharsmapBuilder();
  builder.units.resize(300);  // the steps from one unit lie within 256 of each other
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
}

TEST(CharsmapTest, ARuleBeyondTheReplacementsIsUnsafe) {
  CharsmapBuilder builder;
  builder.units[CharsmapBuilder::kLeaf] = 0x80000000u | 1u;
  EXPECT_TRUE(IsSafeCharsmap(builder.Write()));
  builder.units[CharsmapBuilder::kLeaf] = 0x80000000u | 2u;
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
}

TEST(CharsmapTest, ReplacementsMustEndAndBeShort) {
  CharsmapBuilder builder;
  builder.replacements = "a";
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
  builder.replacements = std::string(256, 'a') + '\0';
  EXPECT_TRUE(IsSafeCharsmap(builder.Write()));
  builder.replacements = std::string(257, 'a') + '\0';
  EXPECT_FALSE(IsSafeCharsmap(builder.Write()));
}

}  // namespace
}  // namespace kvasir
