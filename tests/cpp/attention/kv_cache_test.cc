#include "attention/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cache_rows.h"

namespace kvasir {
namespace {

constexpr int64_t kHeads = 3, kDim = 5, kCapacity = 12;
constexpr SlidingWindow kSliding = {.window = 4, .sink = 2, .chunk = 3};

std::unique_ptr<KvCache> Made(Result<std::unique_ptr<KvCache>> cache) {
  EXPECT_TRUE(cache.ok()) << cache.status().message();
  return *std::move(cache);
}

class KvCacheTest : public ::testing::TestWithParam<KvType> {
 protected:
  static constexpr KvCacheShape kShape = {kHeads, kDim, kCapacity};

  void SetUp() override { cache_ = Made(MakeFlatKvCache(GetParam(), kShape)); }

  // Rows as a projection writes them, [S, H * D].
  struct Rows {
    Rows(int64_t seq, uint32_t seed)
        : k(RandomRows(seq * kHeads * kDim, seed)), v(RandomRows(seq * kHeads * kDim, seed + 999)) {
      k_view = HeadsOfRows(k.data(), kHeads, seq, kDim);
      v_view = HeadsOfRows(v.data(), kHeads, seq, kDim);
    }
    const float* K(int64_t row, int64_t head) const {
      return &k[static_cast<size_t>((row * kHeads + head) * kDim)];
    }
    const float* V(int64_t row, int64_t head) const {
      return &v[static_cast<size_t>((row * kHeads + head) * kDim)];
    }
    std::vector<float> k, v;
    View4<const float> k_view, v_view;
  };

  static Status Store(KvCache& cache, int64_t start, int64_t seq, uint32_t seed) {
    const Rows rows(seq, seed);
    return cache.Update(start, rows.k_view, rows.v_view);
  }
  Status Store(int64_t start, int64_t seq, uint32_t seed) {
    return Store(*cache_, start, seq, seed);
  }

  // Whether row `row` of `rows` is what is stored at `position`, in every head.
  void ExpectRow(const KvCache& cache, int64_t position, const Rows& rows, int64_t row) const {
    for (int64_t h = 0; h < kHeads; ++h) {
      EXPECT_EQ(RowAt(cache.Runs(), true, h, position),
                RoundedRow(GetParam(), rows.K(row, h), kDim))
          << "K of head " << h << " at " << position;
      EXPECT_EQ(RowAt(cache.Runs(), false, h, position),
                RoundedRow(GetParam(), rows.V(row, h), kDim))
          << "V of head " << h << " at " << position;
    }
  }

  // All that the cache holds, to show that nothing changed.
  static std::vector<uint8_t> Saved(const KvCache& cache) {
    std::vector<uint8_t> bytes(static_cast<size_t>(cache.SavedBytes()));
    cache.Save(bytes);
    return bytes;
  }

  std::unique_ptr<KvCache> cache_;
};

TEST_P(KvCacheTest, StoresEveryRowOfEveryHeadInItsPlace) {
  const Rows first(4, 1), second(3, 2);
  ASSERT_TRUE(cache_->Update(0, first.k_view, first.v_view).ok());
  ASSERT_TRUE(cache_->Update(4, second.k_view, second.v_view).ok());
  EXPECT_EQ(cache_->length(), 7);
  const KvRuns runs = cache_->Runs();
  ASSERT_EQ(runs.count, 1);
  EXPECT_EQ(runs.run[0].first_position, 0);
  EXPECT_EQ(runs.run[0].k.size, (std::array<int64_t, 4>{1, kHeads, 7, kDim}));
  for (int64_t s = 0; s < 4; ++s) ExpectRow(*cache_, s, first, s);
  for (int64_t s = 0; s < 3; ++s) ExpectRow(*cache_, 4 + s, second, s);
}

TEST_P(KvCacheTest, WritingFromAnEarlierPositionShortensIt) {
  ASSERT_TRUE(Store(0, 8, 1).ok());
  ASSERT_TRUE(Store(2, 1, 2).ok());
  EXPECT_EQ(cache_->length(), 3);
}

TEST_P(KvCacheTest, FillsToItsCapacityAndNotBeyond) {
  ASSERT_TRUE(Store(0, kCapacity, 1).ok());
  EXPECT_EQ(Store(kCapacity, 1, 2).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(cache_->length(), kCapacity);
}

TEST_P(KvCacheTest, AnErrorChangesNoByte) {
  ASSERT_TRUE(Store(0, 5, 1).ok());
  const std::vector<uint8_t> before = Saved(*cache_);
  EXPECT_EQ(Store(-1, 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(6, 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(int64_t{1} << 31, 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(std::numeric_limits<int64_t>::max(), 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(std::numeric_limits<int64_t>::min(), 1, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(3, kCapacity - 2, 2).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(Store(0, 0, 2).code(), ErrorCode::kInvalidArgument);
  const std::vector<float> rows = RandomRows(100, 3);
  const View4<const float> right = HeadsOfRows(rows.data(), kHeads, 2, kDim);
  for (int dimension : {0, 1, 2, 3}) {
    View4<const float> wrong = right;
    wrong.size[static_cast<size_t>(dimension)] += 1;
    EXPECT_FALSE(cache_->Update(5, wrong, right).ok()) << dimension;
    EXPECT_FALSE(cache_->Update(5, right, wrong).ok()) << dimension;
  }
  View4<const float> strided = right;
  strided.stride[3] = 2;
  EXPECT_FALSE(cache_->Update(5, strided, right).ok());
  EXPECT_FALSE(cache_->UpdateAt(std::vector<int64_t>{5}, right, right).ok());
  EXPECT_FALSE(cache_->UpdateAt(std::vector<int64_t>{4, 6}, right, right).ok());
  EXPECT_FALSE(cache_->UpdateAt(std::vector<int64_t>{4, -1}, right, right).ok());
  EXPECT_EQ(cache_->length(), 5);
  EXPECT_EQ(Saved(*cache_), before);
}

TEST_P(KvCacheTest, RowsBeyondTheLengthAreNotTouched) {
  const Rows all(kCapacity, 1);
  ASSERT_TRUE(cache_->Update(0, all.k_view, all.v_view).ok());
  const KvRuns full = cache_->Runs();
  ASSERT_TRUE(cache_->Truncate(4).ok());
  ASSERT_TRUE(Store(4, 1, 2).ok());
  // The view of the full cache still looks at the same memory.
  for (int64_t s = 5; s < kCapacity; ++s) {
    for (int64_t h = 0; h < kHeads; ++h) {
      EXPECT_EQ(StoredRow(full.run[0].k, h, s), RoundedRow(GetParam(), all.K(s, h), kDim));
      EXPECT_EQ(StoredRow(full.run[0].v, h, s), RoundedRow(GetParam(), all.V(s, h), kDim));
    }
  }
}

TEST_P(KvCacheTest, RowsGoToThePositionsOfAListAndTheLastOneWins) {
  const Rows before(4, 1), rows(5, 2);
  ASSERT_TRUE(cache_->Update(0, before.k_view, before.v_view).ok());
  ASSERT_TRUE(cache_->UpdateAt(std::vector<int64_t>{5, 1, 4, 1, 6}, rows.k_view, rows.v_view).ok());
  EXPECT_EQ(cache_->length(), 7);
  ExpectRow(*cache_, 0, before, 0);
  ExpectRow(*cache_, 1, rows, 3);
  ExpectRow(*cache_, 2, before, 2);
  ExpectRow(*cache_, 4, rows, 2);
  ExpectRow(*cache_, 5, rows, 0);
  ExpectRow(*cache_, 6, rows, 4);
}

TEST_P(KvCacheTest, TruncateChecksItsRange) {
  ASSERT_TRUE(Store(0, 5, 1).ok());
  EXPECT_EQ(cache_->Truncate(6).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache_->Truncate(-1).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache_->length(), 5);
  EXPECT_TRUE(cache_->Truncate(5).ok());
  EXPECT_TRUE(cache_->Truncate(0).ok());
  EXPECT_EQ(cache_->Runs().count, 0);
}

TEST_P(KvCacheTest, AfterClearARerunIsTheSameBitForBit) {
  ASSERT_TRUE(Store(0, 6, 1).ok());
  const std::vector<uint8_t> first = Saved(*cache_);
  cache_->Clear();
  EXPECT_EQ(cache_->length(), 0);
  ASSERT_TRUE(Store(0, 6, 1).ok());
  EXPECT_EQ(Saved(*cache_), first);
}

// A swapped cache must bring its own scales.
TEST_P(KvCacheTest, ARowWrittenAgainHasItsOwnScale) {
  Rows small(3, 1), large(3, 2);
  for (float& value : large.k) value *= 100;
  for (float& value : large.v) value *= 100;
  ASSERT_TRUE(cache_->Update(0, large.k_view, large.v_view).ok());
  ASSERT_TRUE(cache_->Update(0, small.k_view, small.v_view).ok());
  for (int64_t s = 0; s < 3; ++s) ExpectRow(*cache_, s, small, s);
}

TEST_P(KvCacheTest, AForkGoesItsOwnWay) {
  const Rows rows(6, 1), other(2, 2);
  ASSERT_TRUE(cache_->Update(0, rows.k_view, rows.v_view).ok());
  const std::vector<uint8_t> before = Saved(*cache_);
  const std::unique_ptr<KvCache> fork = Made(cache_->Fork());
  EXPECT_EQ(Saved(*fork), before);
  ASSERT_TRUE(fork->Update(3, other.k_view, other.v_view).ok());
  EXPECT_EQ(Saved(*cache_), before);
  ExpectRow(*fork, 2, rows, 2);
  ExpectRow(*fork, 3, other, 0);
  ExpectRow(*cache_, 3, rows, 3);
  EXPECT_EQ(fork->length(), 5);
}

TEST_P(KvCacheTest, WhatWasSavedIsLoadedBitForBit) {
  ASSERT_TRUE(Store(0, 7, 1).ok());
  const std::vector<uint8_t> saved = Saved(*cache_);
  const std::unique_ptr<KvCache> other = Made(MakeFlatKvCache(GetParam(), kShape));
  ASSERT_TRUE(Store(*other, 0, 9, 5).ok());
  const Result<int64_t> read = other->Load(saved);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, static_cast<int64_t>(saved.size()));
  EXPECT_EQ(Saved(*other), saved);
}

TEST_P(KvCacheTest, AForeignOrShortenedSaveIsRefusedAndChangesNothing) {
  ASSERT_TRUE(Store(0, 7, 1).ok());
  const std::vector<uint8_t> saved = Saved(*cache_);
  const auto refused = [&](KvCache& cache, std::span<const uint8_t> bytes) {
    const std::vector<uint8_t> before = Saved(cache);
    EXPECT_EQ(cache.Load(bytes).status().code(), ErrorCode::kMalformedFile);
    EXPECT_EQ(Saved(cache), before);
  };
  for (size_t length : {size_t{0}, size_t{8}, size_t{71}, size_t{72}, saved.size() - 1}) {
    refused(*cache_, std::span(saved).first(length));
  }
  for (KvType type : kAllKvTypes) {
    if (type != GetParam()) refused(*Made(MakeFlatKvCache(type, kShape)), saved);
  }
  refused(*Made(MakeFlatKvCache(GetParam(), {kHeads, kDim, kCapacity + 1})), saved);
  refused(*Made(MakeFlatKvCache(GetParam(), {kHeads + 1, kDim, kCapacity})), saved);
  refused(*Made(MakeFlatKvCache(GetParam(), {kHeads, kDim + 1, kCapacity})), saved);
  refused(*Made(MakeSlidingKvCache(GetParam(), kShape, kSliding)), saved);
  // Every value of the header, changed to something that cannot be.
  for (size_t field = 0; field < 9; ++field) {
    for (int64_t value : {int64_t{-1}, int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
      std::vector<uint8_t> damaged = saved;
      std::memcpy(damaged.data() + 8 * field, &value, sizeof(value));
      refused(*cache_, damaged);
    }
  }
}

TEST_P(KvCacheTest, ASlidingCacheKeepsTheWindowAndTheSink) {
  const std::unique_ptr<KvCache> cache =
      Made(MakeSlidingKvCache(GetParam(), {kHeads, kDim, 1000}, kSliding));
  const Rows rows(60, 1);
  for (int64_t start = 0; start < 60; start += 3) {
    View4<const float> k = rows.k_view, v = rows.v_view;
    k.data += start * kHeads * kDim;
    v.data += start * kHeads * kDim;
    k.size[2] = v.size[2] = 3;
    ASSERT_TRUE(cache->Update(start, k, v).ok());
    for (int64_t p = 0; p < start + 3; ++p) {
      if (p < kSliding.sink || p > start - kSliding.window) ExpectRow(*cache, p, rows, p);
    }
  }
  EXPECT_EQ(cache->length(), 60);
  // It forks and saves what it still has.
  const std::vector<uint8_t> saved = Saved(*cache);
  EXPECT_EQ(Saved(*Made(cache->Fork())), saved);
  const std::unique_ptr<KvCache> other =
      Made(MakeSlidingKvCache(GetParam(), {kHeads, kDim, 1000}, kSliding));
  ASSERT_TRUE(other->Load(saved).ok());
  EXPECT_EQ(Saved(*other), saved);
  EXPECT_EQ(cache->Truncate(50).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Saved(*cache), saved);
}

TEST_P(KvCacheTest, ASlidingCacheHoldsNoMoreThanItsSlots) {
  const std::unique_ptr<KvCache> cache =
      Made(MakeSlidingKvCache(GetParam(), {kHeads, kDim, int64_t{1} << 40}, kSliding));
  const std::unique_ptr<KvCache> flat = Made(MakeFlatKvCache(GetParam(), {kHeads, kDim, 8}));
  EXPECT_EQ(cache->bytes(), flat->bytes());  // 2 + 4 + 3 - 1 slots
}

TEST_P(KvCacheTest, ACrossCacheIsFilledAndAppendedTo) {
  const std::unique_ptr<KvCache> cache = Made(MakeCrossKvCache(GetParam(), kShape));
  EXPECT_EQ(cache->bytes(), 0) << "no image, no memory";
  EXPECT_EQ(cache->Runs().count, 0);
  const Rows first(5, 1), second(6, 2);
  ASSERT_TRUE(cache->Update(0, first.k_view, first.v_view).ok());
  ASSERT_TRUE(cache->Update(5, second.k_view, second.v_view).ok());
  EXPECT_EQ(cache->length(), 11);
  for (int64_t s = 0; s < 5; ++s) ExpectRow(*cache, s, first, s);
  for (int64_t s = 0; s < 6; ++s) ExpectRow(*cache, 5 + s, second, s);

  const std::vector<uint8_t> before = Saved(*cache);
  EXPECT_EQ(Store(*cache, 0, 1, 3).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(*cache, 10, 1, 3).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Store(*cache, 11, 2, 3).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(
      cache->UpdateAt(std::vector<int64_t>{0, 1, 2, 3, 4, 5}, second.k_view, second.v_view).code(),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(Saved(*cache), before);

  EXPECT_EQ(Saved(*Made(cache->Fork())), before);
  const std::unique_ptr<KvCache> other = Made(MakeCrossKvCache(GetParam(), kShape));
  ASSERT_TRUE(other->Load(before).ok());
  EXPECT_EQ(Saved(*other), before);

  // Back to the first image.
  ASSERT_TRUE(cache->Truncate(5).ok());
  ASSERT_TRUE(cache->Update(5, first.k_view, first.v_view).ok());
  ExpectRow(*cache, 7, first, 2);
  cache->Clear();
  EXPECT_EQ(cache->Runs().count, 0);
}

TEST_P(KvCacheTest, TakesTheMemoryOfItsType) {
  const int64_t row = GetParam() == KvType::kF32   ? 4 * kDim
                      : GetParam() == KvType::kF16 ? 2 * kDim
                                                   : kDim + 5;
  EXPECT_EQ(cache_->bytes(), 2 * kHeads * kCapacity * row);
}

TEST(KvCacheBytesTest, AnI8CacheOfHeadDimension64TakesAtMost27PercentOfF32) {
  const auto bytes = [](KvType type) { return Made(MakeFlatKvCache(type, {8, 64, 100}))->bytes(); };
  EXPECT_LE(static_cast<double>(bytes(KvType::kI8)),
            0.27 * static_cast<double>(bytes(KvType::kF32)));
}

TEST_P(KvCacheTest, ShapesThatCannotBeAreRefused) {
  const auto code = [&](int64_t heads, int64_t dim, int64_t capacity) {
    return MakeFlatKvCache(GetParam(), {heads, dim, capacity}).status().code();
  };
  EXPECT_EQ(code(0, 4, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 0, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 4, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(4, 4, -1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 31),
            ErrorCode::kInvalidArgument);
  const auto sliding = [&](const SlidingWindow& window) {
    return MakeSlidingKvCache(GetParam(), kShape, window).status().code();
  };
  EXPECT_EQ(sliding({.window = 0, .chunk = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(sliding({.window = kCapacity + 1, .chunk = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(sliding({.window = 4, .sink = -1, .chunk = 1}), ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Types, KvCacheTest, ::testing::ValuesIn(kAllKvTypes),
                         [](const auto& info) { return KvTypeText(info.param); });

}  // namespace
}  // namespace kvasir
