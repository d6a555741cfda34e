#include "kernels/rms_norm.h"

#include <cmath>

#include "simd/simd.h"

namespace kvasir {
namespace {

float MeanSquare(const float* x, int64_t dim) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  FloatVector even = hn::Zero(df), odd = hn::Zero(df);
  int64_t c = 0;
  for (; c + 2 * lanes <= dim; c += 2 * lanes) {
    const FloatVector a = hn::LoadU(df, x + c), b = hn::LoadU(df, x + c + lanes);
    even = MulAdd(a, a, even);
    odd = MulAdd(b, b, odd);
  }
  for (; c < dim; c += lanes) {
    const FloatVector a = hn::LoadN(df, x + c, static_cast<size_t>(dim - c));
    even = MulAdd(a, a, even);
  }
  return hn::ReduceSum(df, hn::Add(even, odd)) / static_cast<float>(dim);
}

}  // namespace

void RmsNorm(const float* x, const float* weight, float eps, int64_t n, int64_t dim, float* out) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  for (int64_t i = 0; i < n; ++i, x += dim, out += dim) {
    const FloatVector factor = hn::Set(df, 1.0f / std::sqrt(MeanSquare(x, dim) + eps));
    int64_t c = 0;
    for (; c + lanes <= dim; c += lanes) {
      const FloatVector scaled = hn::Mul(hn::LoadU(df, x + c), factor);
      hn::StoreU(hn::Mul(scaled, hn::LoadU(df, weight + c)), df, out + c);
    }
    if (c < dim) {
      const size_t rest = static_cast<size_t>(dim - c);
      const FloatVector scaled = hn::Mul(hn::LoadN(df, x + c, rest), factor);
      hn::StoreN(hn::Mul(scaled, hn::LoadN(df, weight + c, rest)), df, out + c, rest);
    }
  }
}

}  // namespace kvasir
