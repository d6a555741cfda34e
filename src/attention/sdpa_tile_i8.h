// Tiles of int8_t keys and values. Internal to sdpa.cc.
//
// Scores: keys become f32 in registers, and the zero point comes off the sum:
// sum q (k - z) = sum q k - z sum q. Values: the weights of a tile, which are
// never negative, become 16-bit integers around their middle, whose rounding
// (2^-17 of the largest weight) is far below that of the rows. They meet the
// rows in 32-bit sums, which hold a tile: 64 * 65534 * 128 < 2^31. Queries of 16
// bits would be faster, too, and miss the exact scores by 1e-4.
#ifndef KVASIR_ATTENTION_SDPA_TILE_I8_H_
#define KVASIR_ATTENTION_SDPA_TILE_I8_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attention/sdpa_tile.h"
#include "simd/simd.h"

namespace kvasir {

using I8x16 = hn::FixedTag<int8_t, 16>;
using I16x8 = hn::FixedTag<int16_t, 8>;
using I32x4 = hn::FixedTag<int32_t, 4>;
using F32x4 = hn::FixedTag<float, 4>;

inline constexpr int64_t kByteLanes = 16;
inline constexpr int32_t kMiddle = 32767;

// Keys whose sums are gathered in one vector.
inline constexpr int kKeyBlock = 4;

// Bytes [d, d + 16) of a row of dim, zeros past its end.
inline hn::Vec<I8x16> LoadRow(const int8_t* row, int64_t d, int64_t dim) {
  if (d + kByteLanes <= dim) return hn::LoadU(I8x16(), row + d);
  return hn::LoadN(I8x16(), row + d, static_cast<size_t>(dim - d));
}

// The 16 values of LoadRow as f32.
struct FloatGroup {
  hn::Vec<F32x4> part[4];

  explicit FloatGroup(hn::Vec<I8x16> bytes) {
    const F32x4 df;
    const I32x4 di;
    const auto low = hn::PromoteLowerTo(I16x8(), bytes), high = hn::PromoteUpperTo(I16x8(), bytes);
    part[0] = hn::ConvertTo(df, hn::PromoteLowerTo(di, low));
    part[1] = hn::ConvertTo(df, hn::PromoteUpperTo(di, low));
    part[2] = hn::ConvertTo(df, hn::PromoteLowerTo(di, high));
    part[3] = hn::ConvertTo(df, hn::PromoteUpperTo(di, high));
  }
};

// [sum of a, sum of b, sum of c, sum of d].
inline hn::Vec<F32x4> SumsOf(hn::Vec<F32x4> a, hn::Vec<F32x4> b, hn::Vec<F32x4> c,
                             hn::Vec<F32x4> d) {
  const F32x4 df;
  const auto ab = hn::Add(hn::InterleaveLower(df, a, b), hn::InterleaveUpper(df, a, b));
  const auto cd = hn::Add(hn::InterleaveLower(df, c, d), hn::InterleaveUpper(df, c, d));
  return hn::Add(hn::ConcatLowerLower(df, cd, ab), hn::ConcatUpperUpper(df, cd, ab));
}

inline float Sum(const float* in, int64_t n) {
  const F32x4 df;
  auto sum = hn::Zero(df);
  for (int64_t i = 0; i < n; i += 4) {
    const size_t rest = static_cast<size_t>(std::min<int64_t>(4, n - i));
    sum = hn::Add(sum, hn::LoadN(df, in + i, rest));
  }
  return hn::ReduceSum(df, sum);
}

// Scores of kCount queries with keys [s, s + kKeyBlock); what lies past the end
// of the tile is written and means nothing.
template <int kCount>
void ScoreBlock(const float* const* queries, const float* query_sums, int64_t dim,
                const TileRows<int8_t>& keys, int64_t s, float* scores) {
  const F32x4 df;
  const I32x4 di;
  hn::Vec<F32x4> acc[kCount][kKeyBlock];
  for (auto& of_query : acc) {
    for (auto& sum : of_query) sum = hn::Zero(df);
  }
  const int8_t* row[kKeyBlock];
  for (int j = 0; j < kKeyBlock; ++j) row[j] = keys.Row(std::min(s + j, keys.count - 1));
  for (int64_t d = 0; d < dim; d += kByteLanes) {
    const bool whole = d + kByteLanes <= dim;
    for (int j = 0; j < kKeyBlock; ++j) {
      const FloatGroup k(LoadRow(row[j], d, dim));
      for (int part = 0; part < 4; ++part) {
        const int64_t at = std::min(d + 4 * part, dim);
        for (int i = 0; i < kCount; ++i) {
          const auto q = whole ? hn::LoadU(df, queries[i] + at)
                               : hn::LoadN(df, queries[i] + at, static_cast<size_t>(dim - at));
          acc[i][j] = MulAdd(k.part[part], q, acc[i][j]);
        }
      }
    }
  }
  const size_t rest = static_cast<size_t>(std::min<int64_t>(kKeyBlock, keys.count - s));
  const auto zero_point = hn::ConvertTo(
      df, hn::PromoteTo(di, hn::LoadN(hn::FixedTag<int8_t, 4>(), keys.zero_point + s, rest)));
  const auto scale = hn::LoadN(df, keys.scale + s, rest);
  for (int i = 0; i < kCount; ++i) {
    const auto sums = SumsOf(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    const auto zero = hn::Mul(zero_point, hn::Set(df, query_sums[i]));
    hn::StoreU(hn::Mul(hn::Sub(sums, zero), scale), df, scores + i * kKeyTile + s);
  }
}

inline void ScoreTile(const TileQueries& q, const TileRows<int8_t>& keys, float* scores) {
  for (int64_t u = 0; u < q.count; u += 2) {
    const bool two = u + 1 < q.count;
    const float sums[2] = {Sum(q.row[u], q.dim), two ? Sum(q.row[u + 1], q.dim) : 0.0f};
    for (int64_t s = 0; s < keys.count; s += kKeyBlock) {
      float* out = scores + u * kKeyTile;
      if (two) {
        ScoreBlock<2>(q.row + u, sums, q.dim, keys, s, out);
      } else {
        ScoreBlock<1>(q.row + u, sums, q.dim, keys, s, out);
      }
    }
  }
}

// The weights of one query, with the scales of the values in them: weight s is
// (weight[s] + kMiddle) * unit.
struct IntegerWeights {
  int16_t weight[kKeyTile + 2];  // one more is read, and multiplied with zeros, in an odd tile
  float unit;
  int32_t zero;  // sum of (weight + kMiddle) * zero point
};

// Changes `weights`, of which whole vectors may be read.
inline void PrepareWeights(const TileRows<int8_t>& values, float* weights, IntegerWeights& out) {
  const F32x4 df;
  const I32x4 di;
  const hn::FixedTag<int8_t, 4> d8;
  auto largest = hn::Zero(df);
  for (int64_t s = 0; s < values.count; s += 4) {
    const size_t rest = static_cast<size_t>(values.count - s);
    const auto weight = hn::Mul(hn::LoadU(df, weights + s), hn::LoadN(df, values.scale + s, rest));
    hn::StoreU(weight, df, weights + s);
    largest = hn::Max(largest, weight);
  }
  out.unit = hn::ReduceMax(df, largest) / (2 * kMiddle);
  const auto factor = hn::Set(df, out.unit > 0 ? 1 / out.unit : 0.0f);
  auto zero = hn::Zero(di);
  for (int64_t s = 0; s < values.count; s += 4) {
    const size_t rest = static_cast<size_t>(values.count - s);
    const auto weight = hn::NearestInt(hn::Mul(hn::LoadU(df, weights + s), factor));
    const auto zero_point = hn::PromoteTo(di, hn::LoadN(d8, values.zero_point + s, rest));
    zero = hn::Add(zero, hn::Mul(weight, zero_point));
    const auto centred = hn::Sub(weight, hn::Set(di, kMiddle));
    hn::StoreU(hn::DemoteTo(hn::FixedTag<int16_t, 4>(), centred), hn::FixedTag<int16_t, 4>(),
               out.weight + s);
  }
  out.zero = hn::ReduceSum(di, zero);
  out.weight[values.count] = 0;
}

// sums[i, d..d + 16) += weights * values, for kCount queries. Rows are taken in
// pairs, so that a 32-bit lane adds both.
template <int kCount>
void AddValueBlock(const TileRows<int8_t>& values, const IntegerWeights* weights, int64_t d,
                   int64_t dim, float* sums) {
  const I32x4 di;
  const F32x4 df;
  const I16x8 d16;
  constexpr int kParts = kByteLanes / 4;
  hn::Vec<I32x4> acc[kCount][kParts];
  for (auto& of_query : acc) {
    for (auto& sum : of_query) sum = hn::Zero(di);
  }
  auto low_total = hn::Zero(d16), high_total = hn::Zero(d16);  // of the values themselves
  for (int64_t s = 0; s < values.count; s += 2) {
    const auto a = LoadRow(values.Row(s), d, dim);
    const auto b = s + 1 < values.count ? LoadRow(values.Row(s + 1), d, dim) : hn::Zero(I8x16());
    const auto low = hn::InterleaveLower(I8x16(), a, b), high = hn::InterleaveUpper(I8x16(), a, b);
    low_total = hn::Add(low_total, hn::SumsOf2(low));
    high_total = hn::Add(high_total, hn::SumsOf2(high));
    const hn::Vec<I16x8> part[kParts] = {hn::PromoteLowerTo(d16, low), hn::PromoteUpperTo(d16, low),
                                         hn::PromoteLowerTo(d16, high),
                                         hn::PromoteUpperTo(d16, high)};
    for (int i = 0; i < kCount; ++i) {
      int32_t pair;
      std::memcpy(&pair, weights[i].weight + s, sizeof(pair));
      const auto weight = hn::BitCast(d16, hn::Set(di, pair));
      for (int j = 0; j < kParts; ++j) {
        acc[i][j] = hn::Add(acc[i][j], hn::WidenMulPairwiseAdd(di, part[j], weight));
      }
    }
  }
  const hn::Vec<I32x4> total[kParts] = {
      hn::PromoteLowerTo(di, low_total), hn::PromoteUpperTo(di, low_total),
      hn::PromoteLowerTo(di, high_total), hn::PromoteUpperTo(di, high_total)};
  for (int i = 0; i < kCount; ++i) {
    const auto zero = hn::Set(di, weights[i].zero);
    const auto unit = hn::Set(df, weights[i].unit);
    for (int j = 0; j < kParts && d + 4 * j < dim; ++j) {
      float* sum = sums + i * dim + d + 4 * j;
      const size_t rest = static_cast<size_t>(dim - d - 4 * j);
      const auto weighted = hn::Add(acc[i][j], hn::Mul(total[j], hn::Set(di, kMiddle)));
      const auto value = hn::Mul(hn::ConvertTo(df, hn::Sub(weighted, zero)), unit);
      hn::StoreN(hn::Add(hn::LoadN(df, sum, rest), value), df, sum, rest);
    }
  }
}

inline void AddValueTile(const TileQueries& q, const TileRows<int8_t>& values, float* weights,
                         float* sums) {
  IntegerWeights integer[2];
  for (int64_t u = 0; u < q.count; u += 2) {
    const int64_t count = std::min<int64_t>(2, q.count - u);
    for (int64_t i = 0; i < count; ++i) {
      PrepareWeights(values, weights + (u + i) * kKeyTile, integer[i]);
    }
    for (int64_t d = 0; d < q.dim; d += kByteLanes) {
      if (count == 2) {
        AddValueBlock<2>(values, integer, d, q.dim, sums + u * q.dim);
      } else {
        AddValueBlock<1>(values, integer, d, q.dim, sums + u * q.dim);
      }
    }
  }
}

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_TILE_I8_H_
