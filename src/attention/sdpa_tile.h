// The inner loops of SDPA: one tile of queries with one tile of keys and values.
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
// together; one load serves kQueryBlock of them in registers.
inline constexpr int64_t kQueryTile = 32;
inline constexpr int kQueryBlock = 4;

inline FloatVector LoadLanes(const float* in) { return hn::LoadU(FloatTag(), in); }
inline FloatVector LoadLanes(const uint16_t* in) { return LoadF16(FloatTag(), in); }
inline FloatVector LoadSome(const float* in, size_t count) {
  return hn::LoadN(FloatTag(), in, count);
}
inline FloatVector LoadSome(const uint16_t* in, size_t count) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  const hn::Repartition<uint32_t, FloatTag> du;
  return F16BitsToF32(FloatTag(), hn::PromoteTo(du, hn::LoadN(d16, in, count)));
}

inline int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(FloatTag())); }

// Score of kCount queries with one key row.
template <int kCount, class T>
void Dot(const T* key, const float* const* queries, int64_t dim, float* scores) {
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
  for (int i = 0; i < kCount; ++i) scores[i * kKeyTile] = hn::ReduceSum(df, acc[i]);
}

// sum[i] += weights[i, s] * value row s, for kCount queries and `keys` rows.
template <int kCount, class T>
void AddValues(const T* values, int64_t stride, int64_t keys, const float* weights, int64_t dim,
               float* sums) {
  const FloatTag df;
  for (int64_t d = 0; d < dim; d += Lanes()) {
    const size_t rest = static_cast<size_t>(std::min(dim - d, Lanes()));
    const bool whole = static_cast<int64_t>(rest) == Lanes();
    FloatVector acc[kCount];
    for (int i = 0; i < kCount; ++i) acc[i] = hn::LoadN(df, sums + i * dim + d, rest);
    for (int64_t s = 0; s < keys; ++s) {
      const T* row = values + s * stride + d;
      const FloatVector v = whole ? LoadLanes(row) : LoadSome(row, rest);
      for (int i = 0; i < kCount; ++i) {
        acc[i] = MulAdd(hn::Set(df, weights[i * kKeyTile + s]), v, acc[i]);
      }
    }
    for (int i = 0; i < kCount; ++i) hn::StoreN(acc[i], df, sums + i * dim + d, rest);
  }
}

// scores = exp(scores - largest); returns their sum.
inline float ExpInPlace(float* scores, int64_t n, float largest) {
  const FloatTag df;
  const FloatVector offset = hn::Set(df, largest);
  FloatVector total = hn::Zero(df);
  for (int64_t s = 0; s < n; s += Lanes()) {  // rows of scores are whole vectors
    const auto inside = hn::FirstN(df, static_cast<size_t>(n - s));
    const FloatVector e = Exp(df, hn::Sub(hn::LoadU(df, scores + s), offset));
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

inline void ScaleAndCap(float* scores, int64_t n, const SdpaOptions& options) {
  const FloatTag df;
  const FloatVector scale = hn::Set(df, options.scale);
  for (int64_t s = 0; s < n; s += Lanes()) {
    FloatVector score = hn::Mul(hn::LoadU(df, scores + s), scale);
    if (options.soft_cap > 0) {
      const FloatVector cap = hn::Set(df, options.soft_cap);
      score = hn::Mul(cap, Tanh(df, hn::Div(score, cap)));
    }
    hn::StoreU(score, df, scores + s);
  }
}

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_TILE_H_
