// Tiles of int8_t keys and values, multiplied as integers. Internal to sdpa.cc.
//
// Queries become 16-bit integers once a tile of queries, weights once a tile of
// keys; the weights, which are never negative, around their middle, so that both
// are rounded by 2^-16 of the largest. They meet the 8-bit rows in 32-bit sums
// that no shape overflows: 2 * 32767 * 128 * 256 for the scores of a head of 256,
// 64 * 65534 * 128 for the values of a tile. The zero points come off
// afterwards: sum q (k - z) = sum q k - z sum q.
#ifndef KVASIR_ATTENTION_SDPA_TILE_I8_H_
#define KVASIR_ATTENTION_SDPA_TILE_I8_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "attention/sdpa_tile.h"
#include "simd/byte_dot.h"

namespace kvasir {

inline constexpr int64_t kByteLanes = 16;
inline constexpr int32_t kMiddle = 32767;

// Keys whose sums are gathered in one vector.
inline constexpr int kKeyBlock = 4;

inline int64_t PaddedDim(int64_t dim) { return (dim + kByteLanes - 1) / kByteLanes * kByteLanes; }

// Bytes [d, d + 16) of a row of dim, zeros past its end.
inline hn::Vec<I8x16> LoadRow(const int8_t* row, int64_t d, int64_t dim) {
  if (d + kByteLanes <= dim) return hn::LoadU(I8x16(), row + d);
  return hn::LoadN(I8x16(), row + d, static_cast<size_t>(dim - d));
}

// out = round(in / unit), padded with zeros to `padded`; returns the unit.
inline float ToInt16(const float* in, int64_t n, int64_t padded, int16_t* out) {
  const F32x4 df;
  const hn::FixedTag<int16_t, 4> d16;
  auto largest = hn::Zero(df);
  for (int64_t i = 0; i < n; i += 4) {
    largest = hn::Max(largest, hn::Abs(hn::LoadN(df, in + i, static_cast<size_t>(n - i))));
  }
  const float unit = hn::ReduceMax(df, largest) / static_cast<float>(kMiddle);
  const auto factor = hn::Set(df, unit > 0 ? 1 / unit : 0.0f);
  for (int64_t i = 0; i < padded; i += 4) {
    const size_t rest = static_cast<size_t>(std::max<int64_t>(n - i, 0));
    const auto scaled = hn::Mul(hn::LoadN(df, in + std::min(i, n), rest), factor);
    hn::StoreU(hn::DemoteTo(d16, hn::NearestInt(scaled)), d16, out + i);
  }
  return unit;
}

template <class T>
requires std::same_as<T, int8_t>
void PrepareQueries(const TileQueries& q, const IntegerQueries& out) {
  const int64_t padded = PaddedDim(q.dim);
  for (int64_t u = 0; u < q.count; ++u) {
    int16_t* row = out.value + u * padded;
    out.unit[u] = q.scale * ToInt16(q.row[u], q.dim, padded, row);
    int32_t sum = 0;
    for (int64_t d = 0; d < q.dim; ++d) sum += row[d];
    out.sum[u] = sum;
  }
}

// [sum of a, sum of b, sum of c, sum of d].
inline hn::Vec<I32x4> SumsOf(hn::Vec<I32x4> a, hn::Vec<I32x4> b, hn::Vec<I32x4> c,
                             hn::Vec<I32x4> d) {
  const I32x4 di;
  const auto ab = hn::Add(hn::InterleaveLower(di, a, b), hn::InterleaveUpper(di, a, b));
  const auto cd = hn::Add(hn::InterleaveLower(di, c, d), hn::InterleaveUpper(di, c, d));
  return hn::Add(hn::ConcatLowerLower(di, cd, ab), hn::ConcatUpperUpper(di, cd, ab));
}

// Scores of queries [first, first + kCount) with keys [s, s + kKeyBlock); what
// lies past the end of the tile is written and means nothing.
template <int kCount>
void ScoreBlock(const IntegerQueries& q, int64_t first, int64_t dim, const TileRows<int8_t>& keys,
                int64_t s, float* scores) {
  const I32x4 di;
  const F32x4 df;
  const I16x8 d16;
  const int64_t padded = PaddedDim(dim);
  const int16_t* queries = q.value + first * padded;
  const int8_t* row[kKeyBlock];
  for (int j = 0; j < kKeyBlock; ++j) row[j] = keys.Row(std::min(s + j, keys.count - 1));
  hn::Vec<I32x4> acc[kCount][kKeyBlock];
  for (auto& of_query : acc) {
    for (auto& sum : of_query) sum = hn::Zero(di);
  }
  for (int64_t d = 0; d < dim; d += kByteLanes) {
    for (int j = 0; j < kKeyBlock; ++j) {
      const auto k = LoadRow(row[j], d, dim);
      const auto low = hn::PromoteLowerTo(d16, k), high = hn::PromoteUpperTo(d16, k);
      for (int i = 0; i < kCount; ++i) {
        const int16_t* at = queries + i * padded + d;
        acc[i][j] = hn::Add(acc[i][j], hn::WidenMulPairwiseAdd(di, low, hn::LoadU(d16, at)));
        acc[i][j] = hn::Add(acc[i][j], hn::WidenMulPairwiseAdd(di, high, hn::LoadU(d16, at + 8)));
      }
    }
  }
  const size_t rest = static_cast<size_t>(keys.count - s);
  const auto zero_point =
      hn::PromoteTo(di, hn::LoadN(hn::FixedTag<int8_t, 4>(), keys.zero_point + s, rest));
  const auto scale = hn::LoadN(df, keys.scale + s, rest);
  for (int i = 0; i < kCount; ++i) {
    const auto sums = SumsOf(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    const auto zero = hn::Mul(zero_point, hn::Set(di, q.sum[first + i]));
    const auto unit = hn::Mul(scale, hn::Set(df, q.unit[first + i]));
    hn::StoreU(hn::Mul(hn::ConvertTo(df, hn::Sub(sums, zero)), unit), df,
               scores + i * kKeyTile + s);
  }
}

inline void ScoreTile(const TileQueries& q, const IntegerQueries& integer,
                      const TileRows<int8_t>& keys, float* scores) {
  for (int64_t u = 0; u < q.count; u += 2) {
    for (int64_t s = 0; s < keys.count; s += kKeyBlock) {
      float* out = scores + u * kKeyTile;
      if (u + 1 < q.count) {
        ScoreBlock<2>(integer, u, q.dim, keys, s, out);
      } else {
        ScoreBlock<1>(integer, u, q.dim, keys, s, out);
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
