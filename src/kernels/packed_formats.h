// How quantized weights lie when they are packed: rows in groups of four,
// interleaved so that a vector of 16 bytes holds 4 columns of each row and the
// four lanes of a sum are the four rows. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_FORMATS_H_
#define KVASIR_KERNELS_PACKED_FORMATS_H_

#include <cstdint>
#include <cstring>

#include "base/tensor_type.h"
#include "kernels/quantized_input.h"
#include "simd/byte_dot.h"

namespace kvasir {

inline constexpr int64_t kGroupRows = 4;

// Four binary16 values, finite as scales are, to f32.
HWY_INLINE hn::Vec<F32x4> FourScales(const uint8_t* in) {
  const hn::FixedTag<uint16_t, 4> d16;
  const hn::FixedTag<uint32_t, 4> du;
  const F32x4 df;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(in)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto rebias = hn::BitCast(df, hn::Set(du, 0x77800000u));  // 2^112
  const auto value = hn::Mul(hn::BitCast(df, magnitude), rebias);
  return hn::Or(value, hn::BitCast(df, sign));
}

// A format packs blocks of kInputBlock columns of a group:
//   kRawBytes     of one row's block in the file
//   kBytes        of a group's block, at least four times kRawBytes
//   kSigned       whether weights are i8, or 0..127 with an offset to take off
//   Pair(b, i)    columns [8i, 8i + 4) and [8i + 4, 8i + 8) of the four rows
//   Total(...)    a group's products with one block of the input, from the sums
//                 of integer products
//   PackBlock     from the file's blocks of four rows
//   UnpackRow     one row's block as floats
struct WeightPair {
  hn::Vec<I8x16> first, second;
};

struct PackedQ8_0 {
  static constexpr int64_t kRawBytes = 34;
  static constexpr int64_t kBytes = 4 * kRawBytes;  // 4 scales, then 8 vectors
  static constexpr bool kSigned = true;

  static HWY_INLINE WeightPair Pair(const uint8_t* block, int i) {
    const auto* q = reinterpret_cast<const int8_t*>(block) + 8 + 32 * i;
    return {hn::LoadU(I8x16(), q), hn::LoadU(I8x16(), q + 16)};
  }

  static HWY_INLINE hn::Vec<F32x4> Total(const uint8_t* block, hn::Vec<I32x4> sum, float scale,
                                         const int32_t* /*half_sums*/, hn::Vec<F32x4> before) {
    const F32x4 df;
    return MulAdd(hn::Mul(FourScales(block), hn::Set(df, scale)), hn::ConvertTo(df, sum), before);
  }

  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      for (int64_t i = 0; i < 8; ++i) std::memcpy(out + 8 + 16 * i + 4 * r, rows[r] + 2 + 4 * i, 4);
    }
  }

  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kInputBlock; ++j) {
      const auto q = static_cast<int8_t>(block[8 + 16 * (j / 4) + 4 * r + j % 4]);
      out[j] = static_cast<float>(q) * scale;
    }
  }

  static float ScaleOf(const uint8_t* bits) {
    uint16_t half;
    std::memcpy(&half, bits, sizeof(half));
    return F16ToF32(half);
  }
};

struct PackedQ4_0 {
  static constexpr int64_t kRawBytes = 18;
  static constexpr int64_t kBytes = 4 * kRawBytes;  // 4 scales, then 4 vectors of two nibbles
  static constexpr bool kSigned = false;
  static constexpr int kOffset = 8;

  static HWY_INLINE WeightPair Pair(const uint8_t* block, int i) {
    const U8x16 du;
    const auto q = hn::LoadU(du, block + 8 + 16 * i);
    return {hn::BitCast(I8x16(), hn::And(q, hn::Set(du, uint8_t{15}))),
            hn::BitCast(I8x16(), hn::ShiftRight<4>(q))};
  }

  static HWY_INLINE hn::Vec<F32x4> Total(const uint8_t* block, hn::Vec<I32x4> sum, float scale,
                                         const int32_t* half_sums, hn::Vec<F32x4> before) {
    const F32x4 df;
    const auto offset = hn::Set(I32x4(), kOffset * (half_sums[0] + half_sums[1]));
    return MulAdd(hn::Mul(FourScales(block), hn::Set(df, scale)),
                  hn::ConvertTo(df, hn::Sub(sum, offset)), before);
  }

  // In the file, byte j holds columns j and j + 16.
  static uint8_t Nibble(const uint8_t* raw, int64_t column) {
    const uint8_t byte = raw[2 + column % 16];
    return column < 16 ? byte & 15 : byte >> 4;
  }

  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          const uint8_t low = Nibble(rows[r], 8 * i + j), high = Nibble(rows[r], 8 * i + 4 + j);
          out[8 + 16 * i + 4 * r + j] = static_cast<uint8_t>(low | high << 4);
        }
      }
    }
  }

  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = PackedQ8_0::ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kInputBlock; ++j) {
      const uint8_t byte = block[8 + 16 * (j / 8) + 4 * r + j % 4];
      const int q = j % 8 < 4 ? byte & 15 : byte >> 4;
      out[j] = static_cast<float>(q - kOffset) * scale;
    }
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_FORMATS_H_
