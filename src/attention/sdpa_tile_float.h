// Tiles of f32 and f16 keys and values: converted to f32 in registers. Internal
// to sdpa.cc.
#ifndef KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_
#define KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_

#include <algorithm>
#include <cstdint>

#include "attention/sdpa_tile.h"
#include "simd/simd.h"

namespace kvasir {

// Queries that share a load of a K or V row.
inline constexpr int kQueryBlock = 4;

inline FloatVector LoadLanes(const float* in) { return hn::LoadU(FloatTag(), in); }
inline FloatVector FromHalf(hn::Vec<hn::Rebind<uint16_t, FloatTag>> half) {
  const hn::Repartition<uint32_t, FloatTag> du;
  return FiniteF16BitsToF32(FloatTag(), hn::PromoteTo(du, half));
}
inline FloatVector LoadLanes(const uint16_t* in) {
  return FromHalf(hn::LoadU(hn::Rebind<uint16_t, FloatTag>(), in));
}
inline FloatVector LoadSome(const float* in, size_t count) {
  return hn::LoadN(FloatTag(), in, count);
}
inline FloatVector LoadSome(const uint16_t* in, size_t count) {
  return FromHalf(hn::LoadN(hn::Rebind<uint16_t, FloatTag>(), in, count));
}

// Score of kCount queries with one key row.
template <int kCount, class T>
void Dot(const T* key, const float* const* queries, int64_t dim, float scale, float* scores) {
  const FloatTag df;
  FloatVector acc[kCount];
  for (FloatVector& sum : acc) sum = hn::Zero(df);
  int64_t d = 0;
  for (; d + Lanes() <= dim; d += Lanes()) {
    const FloatVector k = LoadLanes(key + d);
    for (int i = 0; i < kCount; ++i) acc[i] = MulAdd(k, hn::LoadU(df, queries[i] + d), acc[i]);
  }
  if (d < dim) {
    const size_t rest = static_cast<size_t>(dim - d);
    const FloatVector k = LoadSome(key + d, rest);
    for (int i = 0; i < kCount; ++i) {
      acc[i] = MulAdd(k, hn::LoadN(df, queries[i] + d, rest), acc[i]);
    }
  }
  for (int i = 0; i < kCount; ++i) scores[i * kKeyTile] = scale * hn::ReduceSum(df, acc[i]);
}

// sum[i] += weights[i, s] * value row s, for kCount queries.
template <int kCount, class T>
void AddValues(const TileRows<T>& values, const float* weights, int64_t dim, float* sums) {
  const FloatTag df;
  for (int64_t d = 0; d < dim; d += Lanes()) {
    const size_t rest = static_cast<size_t>(std::min(dim - d, Lanes()));
    const bool whole = static_cast<int64_t>(rest) == Lanes();
    FloatVector acc[kCount];
    for (int i = 0; i < kCount; ++i) acc[i] = hn::LoadN(df, sums + i * dim + d, rest);
    for (int64_t s = 0; s < values.count; ++s) {
      const T* row = values.Row(s) + d;
      const FloatVector v = whole ? LoadLanes(row) : LoadSome(row, rest);
      for (int i = 0; i < kCount; ++i) {
        acc[i] = MulAdd(hn::Set(df, weights[i * kKeyTile + s]), v, acc[i]);
      }
    }
    for (int i = 0; i < kCount; ++i) hn::StoreN(acc[i], df, sums + i * dim + d, rest);
  }
}

template <class T>
void PrepareQueries(const TileQueries&, const IntegerQueries&) {}

// scores [queries, kKeyTile] = q k^T * scale.
template <class T>
void ScoreTile(const TileQueries& q, const IntegerQueries&, const TileRows<T>& keys,
               float* scores) {
  for (int64_t u = 0; u < q.count; u += kQueryBlock) {
    for (int64_t s = 0; s < keys.count; ++s) {
      float* out = scores + u * kKeyTile + s;
      if (u + kQueryBlock <= q.count) {
        Dot<kQueryBlock>(keys.Row(s), q.row + u, q.dim, q.scale, out);
      } else {
        for (int64_t i = 0; u + i < q.count; ++i) {
          Dot<1>(keys.Row(s), q.row + u + i, q.dim, q.scale, out + i * kKeyTile);
        }
      }
    }
  }
}

// sums [queries, dim] += weights [queries, kKeyTile] * values. May change the weights.
template <class T>
void AddValueTile(const TileQueries& q, const TileRows<T>& values, float* weights, float* sums) {
  for (int64_t u = 0; u < q.count; u += kQueryBlock) {
    if (u + kQueryBlock <= q.count) {
      AddValues<kQueryBlock>(values, weights + u * kKeyTile, q.dim, sums + u * q.dim);
    } else {
      for (int64_t i = u; i < q.count; ++i) {
        AddValues<1>(values, weights + i * kKeyTile, q.dim, sums + i * q.dim);
      }
    }
  }
}

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_TILE_FLOAT_H_
