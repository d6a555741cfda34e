#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "attention/kv_cache.h"
#include "kernels/convert.h"

namespace kvasir {
namespace {

constexpr int64_t kHeads = 3, kDim = 5, kCapacity = 12;

std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

class FlatKvCacheTest : public ::testing::TestWithParam<KvType> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<KvCache>> cache = MakeFlatKvCache(GetParam(), {kHeads, kDim, kCapacity});
    ASSERT_TRUE(cache.ok());
    cache_ = *std::move(cache);
  }

  // Rows as a projection writes them, [S, H * D].
  Status Store(int64_t start, int64_t seq, uint32_t seed) {
    k_ = Random(seq * kHeads * kDim, seed);
    v_ = Random(seq * kHeads * kDim, seed + 1000);
    return cache_->Update(start, HeadsOfRows(k_.data(), kHeads, seq, kDim),
                          HeadsOfRows(v_.data(), kHeads, seq, kDim));
  }

  // What is stored at a position, as floats.
  std::vector<float> Row(const KvRows& rows, int64_t head, int64_t position) const {
    const int64_t at = head * rows.stride[1] + position * rows.stride[2];
    std::vector<float> out(kDim);
    if (rows.type == KvType::kF32) {
      std::memcpy(out.data(), static_cast<const float*>(rows.data) + at, kDim * sizeof(float));
    } else {
      F16ToF32(static_cast<const uint16_t*>(rows.data) + at, kDim, out.data());
    }
    return out;
  }

  std::vector<float> Rounded(const float* row) const {
    std::vector<float> out(row, row + kDim);
    if (GetParam() == KvType::kF16) {
      std::vector<uint16_t> half(kDim);
      F32ToF16(row, kDim, half.data());
      F16ToF32(half.data(), kDim, out.data());
    }
    return out;
  }

  // The memory behind the cache, to show that nothing changed.
  std::vector<uint8_t> Bytes() const {
    const KvRuns runs = cache_->Runs();
    const size_t size = static_cast<size_t>(cache_->bytes() / 2);
    std::vector<uint8_t> bytes(2 * size);
    std::memcpy(bytes.data(), runs.run[0].k.data, size);
    std::memcpy(bytes.data() + size, runs.run[0].v.data, size);
    return bytes;
  }

  std::unique_ptr<KvCache> cache_;
  std::vector<float> k_, v_;
};

TEST_P(FlatKvCacheTest, StoresEveryRowOfEveryHeadInItsPlace) {
  ASSERT_TRUE(Store(0, 4, 1).ok());
  ASSERT_TRUE(Store(4, 3, 2).ok());
  EXPECT_EQ(cache_->length(), 7);
  const KvRuns runs = cache_->Runs();
  ASSERT_EQ(runs.count, 1);
  EXPECT_EQ(runs.run[0].first_position, 0);
  EXPECT_EQ(runs.run[0].k.size, (std::array<int64_t, 4>{1, kHeads, 7, kDim}));
  for (int64_t s = 0; s < 3; ++s) {
    for (int64_t h = 0; h < kHeads; ++h) {
      EXPECT_EQ(Row(runs.run[0].k, h, 4 + s),
                Rounded(&k_[static_cast<size_t>((s * kHeads + h) * kDim)]));
      EXPECT_EQ(Row(runs.run[0].v, h, 4 + s),
                Rounded(&v_[static_cast<size_t>((s * kHeads + h) * kDim)]));
    }
  }
}

TEST_P(FlatKvCacheTest, WritingFromAnEarlierPositionShortensIt) {
  ASSERT_TRUE(Store(0, 8, 1).ok());
  ASSERT_TRUE(Store(2, 1, 2).ok());
  EXPECT_EQ(cache_->length(), 3);
}

TEST_P(FlatKvCacheTest, FillsToItsCapacityAndNotBeyond) {
  ASSERT_TRUE(Store(0, kCapacity, 1).ok());
  EXPECT_EQ(Store(kCapacity, 1, 2).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(cache_->length(), kCapacity);
}

TEST_P(FlatKvCacheTest, AnErrorChangesNoByte) {
  ASSERT_TRUE(Store(0, 5, 1).ok());
  const std::vector<uint8_t> before = Bytes();
  EXPECT_EQ(Store(-1, 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(6, 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(std::numeric_limits<int64_t>::max(), 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(std::numeric_limits<int64_t>::min(), 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(3, kCapacity - 2, 2).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(Store(0, 0, 2).code(), ErrorCode::kInvalidArgument);
  const std::vector<float> rows = Random(100, 3);
  const View4<const float> right = HeadsOfRows(rows.data(), kHeads, 2, kDim);
  for (int dimension : {0, 1, 2, 3}) {
    View4<const float> wrong = right;
    wrong.size[static_cast<size_t>(dimension)] += 1;
    EXPECT_FALSE(cache_->Update(5, wrong, right).ok()) << dimension;
    EXPECT_FALSE(cache_->Update(5, right, wrong).ok()) << dimension;
  }
  EXPECT_EQ(cache_->length(), 5);
  EXPECT_EQ(Bytes(), before);
}

TEST_P(FlatKvCacheTest, RowsBeyondTheLengthAreNotTouched) {
  ASSERT_TRUE(Store(0, kCapacity, 1).ok());
  const std::vector<uint8_t> full = Bytes();
  ASSERT_TRUE(cache_->Truncate(4).ok());
  ASSERT_TRUE(Store(4, 1, 2).ok());
  const std::vector<uint8_t> after = Bytes();
  const size_t row = full.size() / static_cast<size_t>(2 * kHeads * kCapacity);
  for (size_t i = 0; i < full.size(); ++i) {
    if (i / row % static_cast<size_t>(kCapacity) == 4) continue;
    ASSERT_EQ(after[i], full[i]) << "byte " << i;
  }
}

TEST_P(FlatKvCacheTest, TruncateChecksItsRange) {
  ASSERT_TRUE(Store(0, 5, 1).ok());
  EXPECT_EQ(cache_->Truncate(6).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache_->Truncate(-1).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache_->length(), 5);
  EXPECT_TRUE(cache_->Truncate(5).ok());
  EXPECT_TRUE(cache_->Truncate(0).ok());
  EXPECT_EQ(cache_->Runs().count, 0);
}

TEST_P(FlatKvCacheTest, AfterClearARerunIsTheSameBitForBit) {
  ASSERT_TRUE(Store(0, 6, 1).ok());
  const std::vector<uint8_t> first = Bytes();
  cache_->Clear();
  EXPECT_EQ(cache_->length(), 0);
  ASSERT_TRUE(Store(0, 6, 1).ok());
  EXPECT_EQ(std::memcmp(Bytes().data(), first.data(), 6 * kDim * 2), 0);
}

TEST_P(FlatKvCacheTest, TakesTheMemoryOfItsType) {
  const int64_t size = GetParam() == KvType::kF32 ? 4 : 2;
  EXPECT_EQ(cache_->bytes(), 2 * kHeads * kCapacity * kDim * size);
}

TEST_P(FlatKvCacheTest, ShapesThatCannotBeAreRefused) {
  const auto code = [&](int64_t heads, int64_t dim, int64_t capacity) {
    return MakeFlatKvCache(GetParam(), {heads, dim, capacity}).status().code();
  };
  EXPECT_EQ(code(0, 4, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 0, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 4, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 4, -1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 31),
            ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Types, FlatKvCacheTest, ::testing::Values(KvType::kF32, KvType::kF16),
                         [](const auto& info) {
                           return info.param == KvType::kF32 ? "f32" : "f16";
                         });

}  // namespace
}  // namespace kvasir
