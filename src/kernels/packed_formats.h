// How quantized weights lie when they are packed: rows in groups of four,
// interleaved so that a vector of 16 bytes holds 4 columns of each row and the
// four lanes of a sum are the four rows. Internal to the kernels.
//
// A format packs blocks of kColumns columns of a group, and works through them
// in steps of kStepPairs pairs of vectors, 8 columns each:
//   kRawBytes    of one row's block in the file
//   kBytes       of a group's block, at least four times kRawBytes
//   kSigned      whether weights are i8; else 0..127 with an offset to take off
//   Header       what holds for a whole block, Factors what holds for a step
//   Pair         the two vectors of 8 columns of a step
//   Total        a group's products with one step of an input: `before`, plus
//                what the sum of integer products means, for an input whose
//                values of the step are integers times `scale` with the sum
//                `inputs`
//   PackBlock    from the file's blocks of four rows
//   UnpackRow    one row's block as floats
#ifndef KVASIR_KERNELS_PACKED_FORMATS_H_
#define KVASIR_KERNELS_PACKED_FORMATS_H_

#include <cstdint>
#include <cstring>

#include "simd/byte_dot.h"

namespace kvasir {

inline constexpr int64_t kGroupRows = 4;

struct WeightPair {
  hn::Vec<I8x16> first, second;
};

// Four binary16 values to f32.
HWY_INLINE hn::Vec<F32x4> FourScales(const uint8_t* in) {
  const hn::FixedTag<uint16_t, 4> d16;
  const hn::FixedTag<uint32_t, 4> du;
  const auto half = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(in));
  return FiniteF16BitsToF32(F32x4(), hn::PromoteTo(du, half));
}

// Four bytes to f32.
template <class T>
HWY_INLINE hn::Vec<F32x4> FourBytes(const uint8_t* in) {
  const hn::FixedTag<T, 4> d8;
  return hn::ConvertTo(F32x4(),
                       hn::PromoteTo(I32x4(), hn::LoadU(d8, reinterpret_cast<const T*>(in))));
}

inline float ScaleOf(const uint8_t* bits) {
  uint16_t half;
  std::memcpy(&half, bits, sizeof(half));
  return F16ToF32(half);
}

// 16 bytes of nibbles: the low ones are the first vector, the high ones the second.
HWY_INLINE WeightPair NibblePair(const uint8_t* in) {
  const U8x16 du;
  const auto q = hn::LoadU(du, in);
  return {hn::BitCast(I8x16(), hn::And(q, hn::Set(du, uint8_t{15}))),
          hn::BitCast(I8x16(), hn::ShiftRight<4>(q))};
}

// Where column j of row r stands among vectors of nibbles.
inline int64_t NibbleByte(int64_t r, int64_t j) { return 16 * (j / 8) + 4 * r + j % 4; }
inline int NibbleOf(const uint8_t* in, int64_t r, int64_t j) {
  const uint8_t byte = in[NibbleByte(r, j)];
  return j % 8 < 4 ? byte & 15 : byte >> 4;
}
inline void AddNibble(uint8_t* out, int64_t r, int64_t j, int value) {
  out[NibbleByte(r, j)] |= static_cast<uint8_t>(j % 8 < 4 ? value : value << 4);
}

// For formats with one scale a step and an offset that is the same everywhere.
template <int kOffset>
struct ScaledTotal {
  struct Factors {
    hn::Vec<F32x4> scale;
  };
  static HWY_INLINE hn::Vec<F32x4> Total(const Factors& factors, hn::Vec<I32x4> sum, float scale,
                                         int32_t inputs, hn::Vec<F32x4> before) {
    const F32x4 df;
    if constexpr (kOffset != 0) sum = hn::Sub(sum, hn::Set(I32x4(), kOffset * inputs));
    return MulAdd(hn::Mul(factors.scale, hn::Set(df, scale)), hn::ConvertTo(df, sum), before);
  }
};

// 4 scales; 8 vectors of bytes.
struct PackedQ8_0 : ScaledTotal<0> {
  static constexpr int64_t kColumns = 32, kRawBytes = 34, kBytes = 4 * kRawBytes;
  static constexpr int kStepPairs = 4;
  static constexpr bool kSigned = true;
  struct Header {};

  static HWY_INLINE Header Load(const uint8_t*) { return {}; }
  static HWY_INLINE Factors Step(const Header&, const uint8_t* block, int) {
    return {FourScales(block)};
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*step*/, int i) {
    const auto* q = reinterpret_cast<const int8_t*>(block) + 8 + 32 * i;
    return {hn::LoadU(I8x16(), q), hn::LoadU(I8x16(), q + 16)};
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      for (int64_t i = 0; i < 8; ++i) std::memcpy(out + 8 + 16 * i + 4 * r, rows[r] + 2 + 4 * i, 4);
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const auto q = static_cast<int8_t>(block[8 + 16 * (j / 4) + 4 * r + j % 4]);
      out[j] = static_cast<float>(q) * scale;
    }
  }
};

// 4 scales; 4 vectors of nibbles.
struct PackedQ4_0 : ScaledTotal<8> {
  static constexpr int64_t kColumns = 32, kRawBytes = 18, kBytes = 4 * kRawBytes;
  static constexpr int kStepPairs = 4;
  static constexpr bool kSigned = false;
  struct Header {};

  static HWY_INLINE Header Load(const uint8_t*) { return {}; }
  static HWY_INLINE Factors Step(const Header&, const uint8_t* block, int) {
    return {FourScales(block)};
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*step*/, int i) {
    return NibblePair(block + 8 + 16 * i);
  }
  // In the file, byte j holds columns j and j + 16.
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    std::memset(out + 8, 0, kBytes - 8);
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      for (int64_t j = 0; j < 16; ++j) {
        AddNibble(out + 8, r, j, rows[r][2 + j] & 15);
        AddNibble(out + 8, r, j + 16, rows[r][2 + j] >> 4);
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      out[j] = static_cast<float>(NibbleOf(block + 8, r, j) - 8) * scale;
    }
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_FORMATS_H_
