// The integer dot products that quantized kernels are made of, 16 bytes at a
// time. Every build computes the same integers.
#ifndef KVASIR_SIMD_BYTE_DOT_H_
#define KVASIR_SIMD_BYTE_DOT_H_

#include <cstdint>
#include <cstring>

#include "simd/simd.h"

namespace kvasir {

using I8x16 = hn::FixedTag<int8_t, 16>;
using U8x16 = hn::FixedTag<uint8_t, 16>;
using I16x8 = hn::FixedTag<int16_t, 8>;
using U16x8 = hn::FixedTag<uint16_t, 8>;
using I32x4 = hn::FixedTag<int32_t, 4>;
using F32x4 = hn::FixedTag<float, 4>;

// Plain WebAssembly SIMD multiplies 16-bit lanes only; everything else has an
// instruction for bytes, or a short sequence.
#if HWY_TARGET == HWY_WASM && !defined(__wasm_relaxed_simd__)
#define KVASIR_DOTS_BYTES 0
#else
#define KVASIR_DOTS_BYTES 1
#endif
inline constexpr bool kDotsBytes = KVASIR_DOTS_BYTES != 0;

// Four sums over 4 bytes each: lane i of the total grows by the products of
// bytes [4i, 4i + 4) of `signed_bytes`, any i8, and `small`, 0..127.
HWY_INLINE hn::Vec<I32x4> ByteDot(hn::Vec<I32x4> total, hn::Vec<I8x16> signed_bytes,
                                  hn::Vec<I8x16> small) {
#if defined(__wasm_relaxed_simd__) && HWY_TARGET == HWY_WASM
  return hn::Vec<I32x4>{
      wasm_i32x4_relaxed_dot_i8x16_i7x16_add(signed_bytes.raw, small.raw, total.raw)};
#else
  // No sum of two products reaches the limits of 16 bits.
  const auto pairs = hn::SatWidenMulPairwiseAdd(I16x8(), hn::BitCast(U8x16(), small), signed_bytes);
  return hn::Add(total, hn::WidenMulPairwiseAdd(I32x4(), pairs, hn::Set(I16x8(), 1)));
#endif
}

// Eight sums over 2 bytes each, of any i8 with 0..127.
HWY_INLINE hn::Vec<I16x8> PairDot(hn::Vec<I8x16> signed_bytes, hn::Vec<I8x16> small) {
#if defined(__wasm_relaxed_simd__) && HWY_TARGET == HWY_WASM
  return hn::Vec<I16x8>{wasm_i16x8_relaxed_dot_i8x16_i7x16(signed_bytes.raw, small.raw)};
#else
  return hn::SatWidenMulPairwiseAdd(I16x8(), hn::BitCast(U8x16(), small), signed_bytes);
#endif
}

// table[codes[i]] in place i, of codes below 16.
HWY_INLINE hn::Vec<I8x16> LookUp16(hn::Vec<I8x16> table, hn::Vec<I8x16> codes) {
#if defined(__wasm_relaxed_simd__) && HWY_TARGET == HWY_WASM
  return hn::Vec<I8x16>{wasm_i8x16_relaxed_swizzle(table.raw, codes.raw)};
#else
  return hn::TableLookupBytes(table, codes);
#endif
}

// Four bytes, or four 16-bit values, in every place of a vector.
HWY_INLINE hn::Vec<I8x16> Splat4(const int8_t* in) {
  int32_t bits;
  std::memcpy(&bits, in, sizeof(bits));
  return hn::BitCast(I8x16(), hn::Set(I32x4(), bits));
}
HWY_INLINE hn::Vec<I16x8> Splat4(const int16_t* in) {
  int64_t bits;
  std::memcpy(&bits, in, sizeof(bits));
  return hn::BitCast(I16x8(), hn::Set(hn::FixedTag<int64_t, 2>(), bits));
}

}  // namespace kvasir

#endif  // KVASIR_SIMD_BYTE_DOT_H_
