#include "kernels/rope.h"

#include <algorithm>
#include <cmath>

#include "simd/simd.h"

namespace kvasir {
namespace {

constexpr int64_t kFloatPositions = int64_t{1} << 20;

void RotateAdjacent(float* row, const float* cos, const float* sin, int64_t pairs) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t j = 0;
  for (; j + lanes <= pairs; j += lanes) {
    FloatVector even, odd;
    hn::LoadInterleaved2(df, row + 2 * j, even, odd);
    const FloatVector c = hn::LoadU(df, cos + j), s = hn::LoadU(df, sin + j);
    hn::StoreInterleaved2(hn::Sub(hn::Mul(even, c), hn::Mul(odd, s)),
                          hn::Add(hn::Mul(even, s), hn::Mul(odd, c)), df, row + 2 * j);
  }
  for (; j < pairs; ++j) {
    const float even = row[2 * j], odd = row[2 * j + 1];
    row[2 * j] = even * cos[j] - odd * sin[j];
    row[2 * j + 1] = even * sin[j] + odd * cos[j];
  }
}

void RotateHalves(float* row, const float* cos, const float* sin, int64_t pairs) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  float* other = row + pairs;
  int64_t j = 0;
  for (; j + lanes <= pairs; j += lanes) {
    const FloatVector a = hn::LoadU(df, row + j), b = hn::LoadU(df, other + j);
    const FloatVector c = hn::LoadU(df, cos + j), s = hn::LoadU(df, sin + j);
    hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), df, row + j);
    hn::StoreU(hn::Add(hn::Mul(a, s), hn::Mul(b, c)), df, other + j);
  }
  for (; j < pairs; ++j) {
    const float a = row[j], b = other[j];
    row[j] = a * cos[j] - b * sin[j];
    other[j] = a * sin[j] + b * cos[j];
  }
}

}  // namespace

void RopeAngles::Compute(std::span<const float> inv_freq, float magnitude, int64_t start,
                         int64_t seq, int64_t last) {
  seq_ = seq;
  pairs_ = static_cast<int64_t>(inv_freq.size());
  cos_.resize(static_cast<size_t>(seq_ * pairs_));
  sin_.resize(static_cast<size_t>(seq_ * pairs_));
  size_t i = 0;
  for (int64_t s = 0; s < seq; ++s) {
    const int64_t position = std::min(start + s, last);
    for (float speed : inv_freq) {
      // The angle is an f32 product, as in the models' reference implementations,
      // up to positions that no model reaches but a sliding window can.
      const double angle = position < kFloatPositions
                               ? static_cast<double>(static_cast<float>(position) * speed)
                               : static_cast<double>(position) * static_cast<double>(speed);
      cos_[i] = static_cast<float>(std::cos(angle)) * magnitude;
      sin_[i] = static_cast<float>(std::sin(angle)) * magnitude;
      ++i;
    }
  }
}

void ApplyRope(const View4<float>& x, const RopeAngles& angles, RopePairs pairs) {
  const auto rotate = pairs == RopePairs::kAdjacent ? RotateAdjacent : RotateHalves;
  for (int64_t b = 0; b < x.batch(); ++b) {
    for (int64_t s = 0; s < x.seq(); ++s) {
      for (int64_t h = 0; h < x.heads(); ++h) {
        rotate(x.Row(b, h, s), angles.cos(s), angles.sin(s), angles.pairs());
      }
    }
  }
}

}  // namespace kvasir
