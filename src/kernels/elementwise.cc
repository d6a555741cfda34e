#include "kernels/elementwise.h"

#include "simd/exp.h"
#include "simd/simd.h"

namespace kvasir {
namespace {

// x[i] = fn(x[i], y[i]), a vector at a time.
template <class F>
void Combine(float* x, const float* y, int64_t n, F&& fn) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(fn(hn::LoadU(df, x + i), hn::LoadU(df, y + i)), df, x + i);
  }
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    hn::StoreN(fn(hn::LoadN(df, x + i, rest), hn::LoadN(df, y + i, rest)), df, x + i, rest);
  }
}

// x[i] = fn(x[i]).
template <class F>
void Map(float* x, int64_t n, F&& fn) {
  Combine(x, x, n, [&](FloatVector a, FloatVector) { return fn(a); });
}

}  // namespace

void AddInPlace(float* x, const float* y, int64_t n) {
  Combine(x, y, n, [](FloatVector a, FloatVector b) { return hn::Add(a, b); });
}

void AddScaledInPlace(float* x, const float* y, float factor, int64_t n) {
  const FloatVector f = hn::Set(FloatTag(), factor);
  Combine(x, y, n, [&](FloatVector a, FloatVector b) { return MulAdd(f, b, a); });
}

void SwiGlu(float* gate, const float* up, int64_t n) {
  const FloatTag df;
  const FloatVector one = hn::Set(df, 1.0f);
  Combine(gate, up, n, [&](FloatVector g, FloatVector u) {
    const FloatVector silu = hn::Div(g, hn::Add(one, Exp(df, hn::Neg(g))));
    return hn::Mul(silu, u);
  });
}

void GeGlu(float* gate, const float* up, int64_t n) {
  const FloatTag df;
  const FloatVector one = hn::Set(df, 1.0f), half = hn::Set(df, 0.5f);
  const FloatVector linear = hn::Set(df, 0.7978845608f);  // sqrt(2 / pi)
  const FloatVector cubic = hn::Set(df, 0.7978845608f * 0.044715f);
  Combine(gate, up, n, [&](FloatVector g, FloatVector u) {
    const FloatVector inner = hn::Mul(g, MulAdd(cubic, hn::Mul(g, g), linear));
    const FloatVector gelu = hn::Mul(hn::Mul(half, g), hn::Add(one, Tanh(df, inner)));
    return hn::Mul(gelu, u);
  });
}

void ScaleInPlace(float* x, float factor, int64_t n) {
  const FloatVector f = hn::Set(FloatTag(), factor);
  Map(x, n, [&](FloatVector a) { return hn::Mul(a, f); });
}

void SoftCapInPlace(float* x, float cap, int64_t n) {
  const FloatTag df;
  const FloatVector c = hn::Set(df, cap);
  Map(x, n, [&](FloatVector a) { return hn::Mul(c, Tanh(df, hn::Div(a, c))); });
}

}  // namespace kvasir
