// Constants for inner loops. A WebAssembly engine builds a constant anew wherever
// it is used, in three instructions; one that is loaded it keeps in a register.
#ifndef KVASIR_SIMD_CONSTANTS_H_
#define KVASIR_SIMD_CONSTANTS_H_

#include <cstdint>

#include "simd/byte_dot.h"

namespace kvasir {

// Defined where no compiler sees what they are.
extern const uint8_t kLowNibbleBytes[16];  // 15
extern const uint8_t kFifthBitBytes[16];   // 16
extern const uint8_t kUpperPairBytes[16];  // 0x30
extern const int16_t kOneWords[8];         // 1
extern const uint32_t kF16SignAndBits[4];  // 0x8fffe000
extern const float kF16Rebias[4];          // 2^112

HWY_INLINE hn::Vec<I8x16> ConstantBytes(const uint8_t (&bytes)[16]) {
  return hn::BitCast(I8x16(), hn::LoadU(U8x16(), bytes));
}
HWY_INLINE hn::Vec<I16x8> Ones() { return hn::LoadU(I16x8(), kOneWords); }

// Four finite binary16 values to f32.
HWY_INLINE hn::Vec<F32x4> LoadFiniteF16(const uint8_t* in) {
  const hn::FixedTag<int16_t, 4> d16;
  const hn::FixedTag<uint32_t, 4> du;
  const auto wide = hn::PromoteTo(I32x4(), hn::LoadU(d16, reinterpret_cast<const int16_t*>(in)));
  // The sign fills the upper half: what the shift leaves of it is masked away.
  const auto bits =
      hn::And(hn::BitCast(du, hn::ShiftLeft<13>(wide)), hn::LoadU(du, kF16SignAndBits));
  return hn::Mul(hn::BitCast(F32x4(), bits), hn::LoadU(F32x4(), kF16Rebias));
}

}  // namespace kvasir

#endif  // KVASIR_SIMD_CONSTANTS_H_
