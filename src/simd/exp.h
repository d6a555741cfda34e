// Vector exp and tanh.
#ifndef KVASIR_SIMD_EXP_H_
#define KVASIR_SIMD_EXP_H_

#include "simd/simd.h"

namespace kvasir {

// e^x within 2 units in the last place; 0 below -87.3, the largest finite
// float's neighbourhood above 88.7 is cut off at e^88.7. -inf gives 0.
// Method: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial for e^r, times 2^n.
template <class D>
HWY_INLINE hn::Vec<D> Exp(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto low = hn::Set(d, -87.3365f);
  const auto clamped = hn::Min(hn::Max(x, low), hn::Set(d, 88.7228f));
  const auto n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)));
  // ln 2 in two parts, the first with trailing zeros: n times it is exact.
  auto r = hn::MulAdd(n, hn::Set(d, -0.693359375f), clamped);
  r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
  auto p = hn::Set(d, 1.0f / 5040.0f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 720.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  // 2^n in two factors: n may reach 128, which no exponent field holds.
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto power = [&](hn::Vec<decltype(di)> exponent) {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(di, 127))));
  };
  const auto value = hn::Mul(hn::Mul(p, power(half)), power(hn::Sub(whole, half)));
  return hn::IfThenZeroElse(hn::Lt(x, low), value);
}

// The same for x <= 0, as a softmax needs it: fewer steps, within 4 units in the
// last place.
template <class D>
HWY_INLINE hn::Vec<D> ExpNotPositive(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto low = hn::Set(d, -87.3365f);
  const auto clamped = hn::Max(x, low);
  const auto n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)));
  auto r = MulAdd(n, hn::Set(d, -0.693359375f), clamped);
  r = MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
  auto p = hn::Set(d, 1.9875691500e-4f);  // a minimax polynomial: Cephes, expf
  p = MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
  p = MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  p = MulAdd(p, hn::Mul(r, r), hn::Add(r, hn::Set(d, 1.0f)));
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));  // 1..127
  const auto value = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
  return hn::IfThenZeroElse(hn::Lt(x, low), value);
}

// tanh x = 1 - 2 / (e^2x + 1).
template <class D>
HWY_INLINE hn::Vec<D> Tanh(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  const auto e = Exp(d, hn::Add(x, x));
  return hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
}

}  // namespace kvasir

#endif  // KVASIR_SIMD_EXP_H_
