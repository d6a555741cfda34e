// Tiles of f32 and f16 keys and values: converted to f32 in registers. Internal
// to sdpa.cc.
#ifndef KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_
#define KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_

#include <algorithm>
#include <cstdint>

#include "attention/sdpa_tile.h"
#include "simd/constants.h"
#include "simd/simd.h"

namespace kvasir {

// Queries that share a load of a K or V row.
inline constexpr int64_t kQueryBlock = 4;

inline FloatVector LoadLanes(const float* in) { return hn::LoadU(FloatTag(), in); }
inline FloatVector LoadLanes(const uint16_t* in) { return LoadFiniteF16(FloatTag(), in); }
inline FloatVector LoadSome(const float* in, size_t count) {
  return hn::LoadN(FloatTag(), in, count);
}
inline FloatVector LoadSome(const uint16_t* in, size_t count) {
  return FiniteF16ToF32(FloatTag(), hn::LoadN(hn::Rebind<int16_t, FloatTag>(),
                                              reinterpret_cast<const int16_t*>(in), count));
}

// Scores of kCount queries with the keys of a tile.
template <int kCount, class T>
void DotRows(const TileRows<T>& keys, const float* const* queries, int64_t dim, float scale,
             float* scores) {
  const FloatTag df;
  const int64_t whole = dim / Lanes() * Lanes();
  for (int64_t s = 0; s < keys.count; ++s) {
    const T* key = keys.Row(s);
    FloatVector acc[kCount];
    for (FloatVector& sum : acc) sum = hn::Zero(df);
    for (int64_t d = 0; d < whole; d += Lanes()) {
      const FloatVector k = LoadLanes(key + d);
      for (int i = 0; i < kCount; ++i) acc[i] = MulAdd(k, hn::LoadU(df, queries[i] + d), acc[i]);
    }
    if (whole < dim) {
      const size_t rest = static_cast<size_t>(dim - whole);
      const FloatVector k = LoadSome(key + whole, rest);
      for (int i = 0; i < kCount; ++i) {
        acc[i] = MulAdd(k, hn::LoadN(df, queries[i] + whole, rest), acc[i]);
      }
    }
    for (int i = 0; i < kCount; ++i) scores[i * kKeyTile + s] = scale * hn::ReduceSum(df, acc[i]);
  }
}

// sum[i] += weights[i, s] * value row s, of kVectors vectors at d, for kCount queries.
template <int kCount, int kVectors, class T>
HWY_INLINE void AddColumns(const TileRows<T>& values, int64_t d, const float* weights, int64_t dim,
                           float* sums) {
  const FloatTag df;
  FloatVector acc[kCount][kVectors];
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kVectors; ++j) acc[i][j] = hn::LoadU(df, sums + i * dim + d + j * Lanes());
  }
  for (int64_t s = 0; s < values.count; ++s) {
    FloatVector v[kVectors];
    for (int j = 0; j < kVectors; ++j) v[j] = LoadLanes(values.Row(s) + d + j * Lanes());
    for (int i = 0; i < kCount; ++i) {
      const FloatVector weight = hn::Set(df, weights[i * kKeyTile + s]);
      for (int j = 0; j < kVectors; ++j) acc[i][j] = MulAdd(weight, v[j], acc[i][j]);
    }
  }
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kVectors; ++j) hn::StoreU(acc[i][j], df, sums + i * dim + d + j * Lanes());
  }
}

template <int kCount, class T>
void AddRows(const TileRows<T>& values, const float* weights, int64_t dim, float* sums) {
  const FloatTag df;
  int64_t d = 0;
  for (; d + 2 * Lanes() <= dim; d += 2 * Lanes()) {
    AddColumns<kCount, 2>(values, d, weights, dim, sums);
  }
  for (; d + Lanes() <= dim; d += Lanes()) AddColumns<kCount, 1>(values, d, weights, dim, sums);
  if (d == dim) return;
  const size_t rest = static_cast<size_t>(dim - d);
  for (int i = 0; i < kCount; ++i) {
    FloatVector acc = hn::LoadN(df, sums + i * dim + d, rest);
    for (int64_t s = 0; s < values.count; ++s) {
      const FloatVector weight = hn::Set(df, weights[i * kKeyTile + s]);
      acc = MulAdd(weight, LoadSome(values.Row(s) + d, rest), acc);
    }
    hn::StoreN(acc, df, sums + i * dim + d, rest);
  }
}

// By the number of queries. Called through pointers, so that no tool inlines them:
// engines find registers in small functions only.
template <class T>
inline constexpr decltype(&DotRows<1, T>) kDotRows[kQueryBlock] = {DotRows<1, T>, DotRows<2, T>,
                                                                   DotRows<3, T>, DotRows<4, T>};
template <class T>
inline constexpr decltype(&AddRows<1, T>) kAddRows[kQueryBlock] = {AddRows<1, T>, AddRows<2, T>,
                                                                   AddRows<3, T>, AddRows<4, T>};

template <class T>
void PrepareQueries(const TileQueries&, const IntegerQueries&) {}

// scores [queries, kKeyTile] = q k^T * scale.
template <class T>
void ScoreTile(const TileQueries& q, const IntegerQueries&, const TileRows<T>& keys,
               float* scores) {
  for (int64_t u = 0; u < q.count; u += kQueryBlock) {
    const int64_t count = std::min(kQueryBlock, q.count - u);
    kDotRows<T>[count - 1](keys, q.row + u, q.dim, q.scale, scores + u * kKeyTile);
  }
}

// sums [queries, dim] += weights [queries, kKeyTile] * values. May change the weights.
template <class T>
void AddValueTile(const TileQueries& q, const TileRows<T>& values, float* weights, float* sums) {
  for (int64_t u = 0; u < q.count; u += kQueryBlock) {
    const int64_t count = std::min(kQueryBlock, q.count - u);
    kAddRows<T>[count - 1](values, weights + u * kKeyTile, q.dim, sums + u * q.dim);
  }
}

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_
