// The packed forms of the K-quants of two and three bits, whose blocks are 256 columns
// with scales of 16. See packed_formats.h. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_SMALL_K_FORMATS_H_
#define KVASIR_KERNELS_PACKED_SMALL_K_FORMATS_H_

#include <cstdint>
#include <cstring>

#include "kernels/packed_k_formats.h"

namespace kvasir {

// Vectors 2i and 2i + 1 of a unit in two bits.
HWY_INLINE WeightPair TwoBitPair(const uint8_t* unit, int i) {
  const auto bits = hn::BitCast(U16x8(), hn::LoadU(U8x16(), unit + 16 * (i / 2)));
  const auto mask = ConstantBytes(kLowPairBytes);
  const auto first = i % 2 == 0 ? bits : hn::ShiftRight<4>(bits);
  const auto second = i % 2 == 0 ? hn::ShiftRight<2>(bits) : hn::ShiftRight<6>(bits);
  return {hn::And(hn::BitCast(I8x16(), first), mask), hn::And(hn::BitCast(I8x16(), second), mask)};
}

// In the file, byte l of 32 holds columns l, l + 32, l + 64 and l + 96 of 128.
inline UnitWeights RawTwoBits(const uint8_t* raw, int64_t unit) {
  UnitWeights q;
  for (size_t l = 0; l < q.size(); ++l) {
    q[l] = raw[static_cast<size_t>(unit / 4 * 32) + l] >> unit % 4 * 2 & 3;
  }
  return q;
}

// w = d * scale * q - dmin * min: d and dmin of the block, 4-bit scale and min of 16
// columns. Packed: 4 d; 4 dmin; 16 x 4 bytes with a scale and a min; 16 vectors of two
// bits.
struct PackedQ2_K {
  static constexpr int64_t kColumns = 256, kRawBytes = 84, kBytes = 4 * kRawBytes;
  static constexpr int64_t kScales = 16, kWeights = 80;
  static constexpr int kOffset = 0, kParts = 2, kMinCount = 2;
  static constexpr bool kSigned = false;
  struct Header {
    hn::Vec<F32x4> d, dmin;
  };

  static HWY_INLINE Header Load(const uint8_t* block) {
    return {LoadFiniteF16(block), LoadFiniteF16(block + 8)};
  }
  static HWY_INLINE hn::Vec<I32x4> ScalesAndMins(const uint8_t* block, int unit, int part) {
    const hn::FixedTag<uint8_t, 4> d8;
    return hn::PromoteTo(I32x4(), hn::LoadU(d8, block + kScales + 8 * unit + 4 * part));
  }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header& header, const uint8_t* block, int unit,
                                         int part) {
    const auto both = ScalesAndMins(block, unit, part);
    return hn::Mul(header.d, hn::ConvertTo(F32x4(), hn::And(both, hn::Set(I32x4(), 15))));
  }
  static HWY_INLINE hn::Vec<F32x4> Min(const Header& header, const uint8_t* block, int unit,
                                       int part) {
    const auto both = ScalesAndMins(block, unit, part);
    return hn::Mul(header.dmin, hn::ConvertTo(F32x4(), hn::ShiftRight<4>(both)));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int unit, int i) {
    return TwoBitPair(block + kWeights + 32 * unit, i);
  }

  // In the file: scales and mins, the weights, d, dmin.
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r] + 80, 2);
      std::memcpy(out + 8 + 2 * r, rows[r] + 82, 2);
      for (int64_t i = 0; i < 16; ++i) out[kScales + 4 * i + r] = rows[r][i];
      for (int64_t unit = 0; unit < 8; ++unit) {
        PutTwoBits(out + kWeights + 32 * unit, r, RawTwoBits(rows[r] + 16, unit), 0);
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float d = ScaleOf(block + 2 * r), dmin = ScaleOf(block + 8 + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const uint8_t both = block[kScales + j / 16 * 4 + r];
      const float scale = d * static_cast<float>(both & 15);
      const float min = dmin * static_cast<float>(both >> 4);
      out[j] = scale * static_cast<float>(TwoBitsOf(block + kWeights, r, j)) - min;
    }
  }
};

// Weights of -1, 0 and 1, and 2 if a file has it, are those of Q2_K with the scale and
// the min 1 and one d for both. Packs rows of Q2_K that `kToQ2_K` makes.
template <int64_t kFileBytes, void (*kToQ2_K)(const uint8_t* raw, uint8_t* q2_k)>
struct PackedTernary : PackedQ2_K {
  static constexpr int64_t kRawBytes = kFileBytes;
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    uint8_t blocks[kGroupRows][PackedQ2_K::kRawBytes];
    const uint8_t* q2_k[kGroupRows];
    for (int64_t r = 0; r < kGroupRows; ++r) {
      kToQ2_K(rows[r], blocks[r]);
      q2_k[r] = blocks[r];
    }
    PackedQ2_K::PackBlock(q2_k, out);
  }
};

// w = d * scale * (q - 4): d of the block, a scale of -32 to 31 of 16 columns. Packed: 4
// d; 16 x 4 scales; 16 vectors of two bits; 8 vectors of third bits.
struct PackedQ3_K {
  static constexpr int64_t kColumns = 256, kRawBytes = 110, kBytes = 456;
  static constexpr int64_t kScales = 8, kWeights = 72, kThird = 328;
  static constexpr int kOffset = 4, kParts = 2, kMinCount = 0;
  static constexpr bool kSigned = false;
  struct Header {
    hn::Vec<F32x4> d;
  };

  static HWY_INLINE Header Load(const uint8_t* block) { return {LoadFiniteF16(block)}; }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header& header, const uint8_t* block, int unit,
                                         int part) {
    return hn::Mul(header.d, FourBytes<int8_t>(block + kScales + 8 * unit + 4 * part));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int unit, int i) {
    return WithBits<2>(TwoBitPair(block + kWeights + 32 * unit, i), block + kThird + 16 * unit, i,
                       kThirdBitBytes);
  }

  // In the file: 32 bytes of third bits, of which byte l holds those of columns l, l +
  // 32, ...; the lower bits; 12 bytes of scales, 8 with their low nibbles; d.
  static UnitWeights RawUnit(const uint8_t* raw, int64_t unit) {
    UnitWeights q = RawTwoBits(raw + 32, unit);
    for (size_t l = 0; l < q.size(); ++l) q[l] |= static_cast<uint8_t>((raw[l] >> unit & 1) << 2);
    return q;
  }
  static int RawScale(const uint8_t* scales, int64_t i) {
    return (scales[i % 8] >> i / 8 * 4 & 15) | (scales[8 + i % 4] >> i / 4 * 2 & 3) << 4;
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r] + 108, 2);
      for (int64_t i = 0; i < 16; ++i) {
        out[kScales + 4 * i + r] = static_cast<uint8_t>(RawScale(rows[r] + 96, i) - 32);
      }
      for (int64_t unit = 0; unit < 8; ++unit) {
        const UnitWeights q = RawUnit(rows[r], unit);
        PutTwoBits(out + kWeights + 32 * unit, r, q, 0);
        PutBits(out + kThird + 16 * unit, r, q, 2);
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float d = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const auto scale = static_cast<int8_t>(block[kScales + j / 16 * 4 + r]);
      const int third = OneBitOf(block + kThird + j / 32 * 16, r, j % 32);
      const int q = TwoBitsOf(block + kWeights, r, j) | third << 2;
      out[j] = d * static_cast<float>(scale) * static_cast<float>(q - 4);
    }
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_SMALL_K_FORMATS_H_
