#include "base/checksum.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace kvasir {
namespace {

uint64_t Of(const std::vector<uint8_t>& bytes) {
  Checksum checksum;
  checksum.Add(bytes);
  return checksum.value();
}

TEST(ChecksumTest, EverySingleBitCounts) {
  std::vector<uint8_t> bytes(61);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::set<uint64_t> seen = {Of(bytes)};
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<uint8_t> changed = bytes;
    changed[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_TRUE(seen.insert(Of(changed)).second) << "bit " << bit;
  }
}

TEST(ChecksumTest, LengthAndOrderCount) {
  std::set<uint64_t> seen;
  for (size_t length = 0; length < 40; ++length) {
    EXPECT_TRUE(seen.insert(Of(std::vector<uint8_t>(length, 0))).second) << length;
  }
  std::vector<uint8_t> words(16, 1);
  std::fill_n(words.begin(), 8, uint8_t{2});
  std::vector<uint8_t> swapped(words.rbegin(), words.rend());
  EXPECT_NE(Of(words), Of(swapped));
}

TEST(ChecksumTest, WholeWordsMayComeInPieces) {
  std::vector<uint8_t> bytes(100);
  std::iota(bytes.begin(), bytes.end(), uint8_t{7});
  Checksum pieces;
  pieces.Add(std::span(bytes).first(8));
  pieces.Add(std::span(bytes).subspan(8, 40));
  pieces.Add(std::span(bytes).subspan(48));
  EXPECT_EQ(pieces.value(), Of(bytes));
}

}  // namespace
}  // namespace kvasir
