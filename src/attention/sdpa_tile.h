// What the tiles of every type of key and value share: sizes, softmax, sums.
// Internal to sdpa.cc.
#ifndef KVASIR_ATTENTION_SDPA_TILE_H_
#define KVASIR_ATTENTION_SDPA_TILE_H_

#include <algorithm>
#include <cstdint>

#include "attention/sdpa.h"
#include "simd/exp.h"
#include "simd/simd.h"

namespace kvasir {

// Keys whose scores are held at once. Any larger tile costs scratch, any much
// smaller one more rescaling of the sums.
inline constexpr int64_t kKeyTile = 64;

// Query rows (of all heads that share a KV head) that read a K or V row
// together; one load serves several of them in registers.
inline constexpr int64_t kQueryTile = 32;

inline int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(FloatTag())); }

// Consecutive rows of K or V of one head. scale and zero_point: int8_t only.
template <class T>
struct TileRows {
  const T* data;
  int64_t stride;
  const float* scale;
  const int8_t* zero_point;
  int64_t count;  // at most kKeyTile

  const T* Row(int64_t s) const { return data + s * stride; }
};

// The queries of a tile; scores are dot products times `scale`.
struct TileQueries {
  const float* row[kQueryTile];
  int64_t count;
  int64_t dim;
  float scale;
};

// The same as integers, for int8_t keys: query u is value * unit / scale.
struct IntegerQueries {
  int16_t* value;  // [kQueryTile, PaddedDim(dim)]
  float* unit;     // [kQueryTile]
  int32_t* sum;    // [kQueryTile], of the values
};

// The largest of n scores; the rows of scores are whole vectors, of which the
// lanes past n count for nothing.
inline float Largest(const float* scores, int64_t n) {
  const FloatTag df;
  FloatVector largest = hn::Set(df, scores[0]);
  int64_t s = 0;
  for (; s + Lanes() <= n; s += Lanes()) largest = hn::Max(largest, hn::LoadU(df, scores + s));
  float result = hn::ReduceMax(df, largest);
  for (; s < n; ++s) result = std::max(result, scores[s]);
  return result;
}

// scores = exp(scores - largest) for the first n, 0 for the rest of the last
// vector; returns their sum.
inline float ExpInPlace(float* scores, int64_t n, float largest) {
  const FloatTag df;
  const FloatVector offset = hn::Set(df, largest);
  FloatVector total = hn::Zero(df);
  for (int64_t s = 0; s < n; s += Lanes()) {
    const auto inside = hn::FirstN(df, static_cast<size_t>(n - s));
    const FloatVector e = ExpNotPositive(df, hn::Sub(hn::LoadU(df, scores + s), offset));
    const FloatVector kept = hn::IfThenElseZero(inside, e);
    hn::StoreU(kept, df, scores + s);
    total = hn::Add(total, kept);
  }
  return hn::ReduceSum(df, total);
}

inline void Scale(float* values, int64_t n, float factor) {
  const FloatTag df;
  const FloatVector f = hn::Set(df, factor);
  int64_t i = 0;
  for (; i + Lanes() <= n; i += Lanes()) {
    hn::StoreU(hn::Mul(hn::LoadU(df, values + i), f), df, values + i);
  }
  for (; i < n; ++i) values[i] *= factor;
}

// score = cap * tanh(score / cap).
inline void Cap(float* scores, int64_t n, float soft_cap) {
  const FloatTag df;
  const FloatVector cap = hn::Set(df, soft_cap);
  for (int64_t s = 0; s < n; s += Lanes()) {
    const FloatVector score = hn::LoadU(df, scores + s);
    hn::StoreU(hn::Mul(cap, Tanh(df, hn::Div(score, cap))), df, scores + s);
  }
}

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_TILE_H_
