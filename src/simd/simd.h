// Highway, and what the kernels share on top of it. Every build has one static
// target; code is written for any number of lanes.
#ifndef KVASIR_SIMD_SIMD_H_
#define KVASIR_SIMD_SIMD_H_

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace kvasir {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

// a * b + c of f32 lanes, fused where the target has it. Highway 1.2 does not know relaxed
// SIMD, so the one instruction that matters everywhere is wrapped here.
template <class V>
HWY_INLINE V MulAdd(V a, V b, V c) {
#if defined(__wasm_relaxed_simd__) && HWY_TARGET == HWY_WASM
  return V{wasm_f32x4_relaxed_madd(a.raw, b.raw, c.raw)};
#else
  return hn::MulAdd(a, b, c);
#endif
}

// IEEE 754 binary16 bits, one in each 32-bit lane, to f32; exact for every
// value, subnormals, infinities and NaN included.
template <class D, class DU = hn::Repartition<uint32_t, D>>
HWY_INLINE hn::Vec<D> F16BitsToF32(D df, hn::Vec<DU> bits) {
  const DU du;
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  // The exponent is rebased by a multiplication, which normalizes subnormals too.
  const auto scaled =
      hn::Mul(hn::BitCast(df, magnitude), hn::BitCast(df, hn::Set(du, 0x77800000u)));  // 2^112
  const auto special =
      hn::Ge(hn::BitCast(df, magnitude), hn::BitCast(df, hn::Set(du, 0x0f800000u)));  // exponent 31
  const auto infinite = hn::BitCast(df, hn::Or(magnitude, hn::Set(du, 0x7f800000u)));
  const auto value = hn::IfThenElse(special, infinite, scaled);
  return hn::BitCast(df, hn::Or(hn::BitCast(du, value), sign));
}

// Lanes of f32 from consecutive binary16 or bfloat16 values.
template <class D>
HWY_INLINE hn::Vec<D> LoadF16(D df, const uint16_t* in) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::Repartition<uint32_t, D> du;
  return F16BitsToF32(df, hn::PromoteTo(du, hn::LoadU(d16, in)));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadBF16(D df, const uint16_t* in) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::Repartition<uint32_t, D> du;
  return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, in))));
}

// One binary16 value; for scales of blocks.
inline float F16ToF32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fffu) << 13;
  const uint32_t factor_bits = 0x77800000u;
  float value, factor;
  std::memcpy(&value, &magnitude, sizeof(value));
  std::memcpy(&factor, &factor_bits, sizeof(factor));
  value *= factor;
  uint32_t out;
  std::memcpy(&out, &value, sizeof(out));
  if (magnitude >= 0x0f800000u) out = magnitude | 0x7f800000u;
  out |= sign;
  std::memcpy(&value, &out, sizeof(value));
  return value;
}

}  // namespace kvasir

#endif  // KVASIR_SIMD_SIMD_H_
