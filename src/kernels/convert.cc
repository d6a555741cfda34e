#include "kernels/convert.h"

#include <cstring>

#include "simd/simd.h"

namespace kvasir {
namespace {

using UintTag = hn::Repartition<uint32_t, FloatTag>;
using HalfTag = hn::Rebind<uint16_t, FloatTag>;

// f32 to binary16 bits in 32-bit lanes, to nearest, ties to even.
hn::Vec<UintTag> F32ToF16Bits(FloatVector value) {
  const FloatTag df;
  const UintTag du;
  const auto bits = hn::BitCast(du, value);
  const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
  const auto magnitude = hn::Xor(bits, sign);

  // Normal results: rebase the exponent, add half of the dropped part and its
  // lowest kept bit, drop 13 bits. A carry moves into the exponent, as it must.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rebased = hn::Sub(magnitude, hn::Set(du, 112u << 23));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(rebased, hn::Set(du, 0xfffu)), odd));

  // Subnormal results: adding 0.5 makes the adder shift and round the mantissa
  // into the lowest bits.
  const auto half = hn::Set(df, 0.5f);
  const auto shifted = hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), half));
  const auto subnormal = hn::Sub(shifted, hn::BitCast(du, half));

  const auto is_subnormal = hn::Lt(magnitude, hn::Set(du, 113u << 23));
  auto out = hn::IfThenElse(is_subnormal, subnormal, normal);
  const auto overflows = hn::Ge(magnitude, hn::Set(du, 0x477ff000u));  // 65520 and above
  out = hn::IfThenElse(overflows, hn::Set(du, 0x7c00u), out);
  const auto is_nan = hn::Gt(magnitude, hn::Set(du, 0x7f800000u));
  out = hn::IfThenElse(is_nan, hn::Set(du, 0x7e00u), out);
  return hn::Or(out, hn::ShiftRight<16>(sign));
}

}  // namespace

void F16ToF32(const uint16_t* in, int64_t n, float* out) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(LoadF16(df, in + i), df, out + i);
  for (; i < n; ++i) out[i] = F16ToF32(in[i]);
}

void F32ToF16(const float* in, int64_t n, uint16_t* out) {
  const FloatTag df;
  const HalfTag d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::TruncateTo(d16, F32ToF16Bits(hn::LoadU(df, in + i))), d16, out + i);
  }
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    hn::StoreN(hn::TruncateTo(d16, F32ToF16Bits(hn::LoadN(df, in + i, rest))), d16, out + i, rest);
  }
}

void BF16ToF32(const uint16_t* in, int64_t n, float* out) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(LoadBF16(df, in + i), df, out + i);
  for (; i < n; ++i) {
    const uint32_t bits = static_cast<uint32_t>(in[i]) << 16;
    std::memcpy(out + i, &bits, sizeof(bits));
  }
}

}  // namespace kvasir
