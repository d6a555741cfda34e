// Constants for inner loops. A WebAssembly engine builds a constant anew wherever
// it is used, in three instructions; one that is loaded it keeps in a register.
#ifndef KVASIR_SIMD_CONSTANTS_H_
#define KVASIR_SIMD_CONSTANTS_H_

#include <cstdint>

#include "simd/byte_dot.h"

namespace kvasir {

// Defined where no compiler sees what they are.
extern const uint8_t kLowNibbleBytes[16];  // 15
extern const uint8_t kLowPairBytes[16];    // 3
extern const uint8_t kThirdBitBytes[16];   // 4
extern const uint8_t kFifthBitBytes[16];   // 16
extern const uint8_t kUpperPairBytes[16];  // 0x30
extern const int16_t kOneWords[8];         // 1
extern const uint32_t kF16SignAndBits[4];  // 0x8fffe000
extern const float kF16Rebias[4];          // 2^112

HWY_INLINE hn::Vec<I8x16> ConstantBytes(const uint8_t (&bytes)[16]) {
  return hn::BitCast(I8x16(), hn::LoadU(U8x16(), bytes));
}
HWY_INLINE hn::Vec<I16x8> Ones() { return hn::LoadU(I16x8(), kOneWords); }

// Finite binary16 values, as scales, keys and values are, to f32.
template <class D>
HWY_INLINE hn::Vec<D> FiniteF16ToF32(D df, hn::Vec<hn::Rebind<int16_t, D>> halves) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  // The sign fills the upper half: what the shift leaves of it is masked away.
  const auto wide = hn::ShiftLeft<13>(hn::PromoteTo(di, halves));
  const auto bits = hn::And(hn::BitCast(du, wide), hn::LoadDup128(du, kF16SignAndBits));
  // The exponent is rebased by a multiplication, which normalizes subnormals too.
  return hn::Mul(hn::BitCast(df, bits), hn::LoadDup128(df, kF16Rebias));
}
template <class D>
HWY_INLINE hn::Vec<D> LoadFiniteF16(D df, const uint16_t* in) {
  return FiniteF16ToF32(df,
                        hn::LoadU(hn::Rebind<int16_t, D>(), reinterpret_cast<const int16_t*>(in)));
}
HWY_INLINE hn::Vec<F32x4> LoadFiniteF16(const uint8_t* in) {
  return LoadFiniteF16(F32x4(), reinterpret_cast<const uint16_t*>(in));
}

}  // namespace kvasir

#endif  // KVASIR_SIMD_CONSTANTS_H_
