// The packed forms of the K-quants, whose blocks are 256 columns with scales of
// parts of them. See packed_formats.h. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_K_FORMATS_H_
#define KVASIR_KERNELS_PACKED_K_FORMATS_H_

#include <cstdint>
#include <cstring>

#include "kernels/packed_formats.h"

namespace kvasir {

// w = d * scale * q - dmin * min: d and dmin of the block, 6-bit scale and min of
// 32 columns. Packed: 4 d; 4 dmin; 8 x 4 scales; 8 x 4 mins; 32 vectors of nibbles;
// for q of five bits, 8 vectors of fifth bits.
template <bool kFiveBits>
struct PackedWithMins {
  static constexpr int64_t kColumns = 256, kRawBytes = kFiveBits ? 176 : 144;
  static constexpr int64_t kScales = 16, kMins = 48, kNibbles = 80, kFifth = 592;
  static constexpr int64_t kBytes = kFiveBits ? 720 : 592;
  // Five bits with 16 taken off add up to 32 columns within 16 bits.
  static constexpr int kOffset = kFiveBits ? 16 : 0, kParts = 1, kMinCount = 1;
  static constexpr bool kSigned = false;
  struct Header {
    hn::Vec<F32x4> d, dmin;
  };

  static HWY_INLINE Header Load(const uint8_t* block) {
    return {LoadFiniteF16(block), LoadFiniteF16(block + 8)};
  }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header& header, const uint8_t* block, int unit,
                                         int /*part*/) {
    return hn::Mul(header.d, FourBytes<uint8_t>(block + kScales + 4 * unit));
  }
  static HWY_INLINE hn::Vec<F32x4> Min(const Header& header, const uint8_t* block, int unit,
                                       int /*part*/) {
    const auto min = hn::Mul(header.dmin, FourBytes<uint8_t>(block + kMins + 4 * unit));
    if constexpr (kOffset == 0) return min;
    const auto offset = hn::Set(F32x4(), static_cast<float>(kOffset));
    return hn::Sub(min, hn::Mul(offset, Scale(header, block, unit, 0)));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int unit, int i) {
    const WeightPair low = NibblePair(block + kNibbles + 64 * unit + 16 * i);
    if constexpr (!kFiveBits) return low;
    return WithFifthBits(low, block + kFifth + 16 * unit, i);
  }

  // The 12 bytes that 8 scales and 8 mins of 6 bits are squeezed into.
  static int Scale(const uint8_t* packed, int64_t i) {
    return i < 4 ? packed[i] & 63 : (packed[i + 4] & 15) | packed[i - 4] >> 6 << 4;
  }
  static int Min(const uint8_t* packed, int64_t i) {
    return i < 4 ? packed[i + 4] & 63 : packed[i + 4] >> 4 | packed[i] >> 6 << 4;
  }

  // In the file: d, dmin, the 12 bytes; 32 bytes of fifth bits, of which byte l
  // holds those of columns l, l + 32, ...; nibbles, of which 32 bytes hold 64
  // columns, the first 32 in the low ones.
  static UnitWeights RawUnit(const uint8_t* raw, int64_t unit) {
    const uint8_t* nibbles = raw + (kFiveBits ? 48 : 16) + unit / 2 * 32;
    const int64_t shift = unit % 2 * 4;
    UnitWeights q;
    for (size_t l = 0; l < q.size(); ++l) {
      q[l] = nibbles[l] >> shift & 15;
      if (kFiveBits) q[l] |= static_cast<uint8_t>((raw[16 + l] >> unit & 1) << 4);
    }
    return q;
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      std::memcpy(out + 8 + 2 * r, rows[r] + 2, 2);
      for (int64_t i = 0; i < 8; ++i) {
        out[kScales + 4 * i + r] = static_cast<uint8_t>(Scale(rows[r] + 4, i));
        out[kMins + 4 * i + r] = static_cast<uint8_t>(Min(rows[r] + 4, i));
        const UnitWeights q = RawUnit(rows[r], i);
        PutNibbles(out + kNibbles + 64 * i, r, q);
        if (kFiveBits) PutBits(out + kFifth + 16 * i, r, q, 4);
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float d = ScaleOf(block + 2 * r), dmin = ScaleOf(block + 8 + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const int64_t part = 4 * (j / 32) + r;
      const float scale = d * static_cast<float>(block[kScales + part]);
      const float min = dmin * static_cast<float>(block[kMins + part]);
      int q = NibbleOf(block + kNibbles, r, j);
      if (kFiveBits) q |= OneBitOf(block + kFifth + j / 32 * 16, r, j % 32) << 4;
      out[j] = scale * static_cast<float>(q) - min;
    }
  }
};

using PackedQ4_K = PackedWithMins<false>;
using PackedQ5_K = PackedWithMins<true>;

// Two bits of 4 vectors: bits 2v and 2v + 1 of a byte belong to its place in vector v.
inline int TwoBitsOf(const uint8_t* in, int64_t r, int64_t j) {
  return in[16 * (j / 16) + 4 * r + j % 4] >> j % 16 / 4 * 2 & 3;
}
// Row r of a unit's two vectors of bits `bit` and above of its weights.
inline void PutTwoBits(uint8_t* out, int64_t r, const UnitWeights& q, int bit) {
  for (size_t half = 0; half < 2; ++half) {
    uint32_t word = 0;
    for (size_t v = 0; v < 4; ++v) {
      word |= (FourWeights(q, 16 * half + 4 * v) >> bit & 0x03030303) << 2 * v;
    }
    std::memcpy(out + 16 * half + 4 * static_cast<size_t>(r), &word, sizeof(word));
  }
}

// w = d * scale * (q - 32): d of the block, an 8-bit scale of 16 columns. Packed: 4
// d; 16 x 4 scales; 32 vectors of low nibbles; 16 vectors of the upper two bits,
// one for four vectors.
struct PackedQ6_K {
  static constexpr int64_t kColumns = 256, kRawBytes = 210, kBytes = 4 * kRawBytes;
  static constexpr int64_t kScales = 8, kNibbles = 72, kUpper = 584;
  static constexpr int kOffset = 32, kParts = 2, kMinCount = 0;
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
    const WeightPair low = NibblePair(block + kNibbles + 64 * unit + 16 * i);
    const uint8_t* in = block + kUpper + 32 * unit + 16 * (i / 2);
    const auto upper = hn::BitCast(U16x8(), hn::LoadU(U8x16(), in));
    const auto mask = ConstantBytes(kUpperPairBytes);
    const auto first = i % 2 == 0 ? hn::ShiftLeft<4>(upper) : upper;
    const auto second = i % 2 == 0 ? hn::ShiftLeft<2>(upper) : hn::ShiftRight<2>(upper);
    return {hn::Or(low.first, hn::And(hn::BitCast(I8x16(), first), mask)),
            hn::Or(low.second, hn::And(hn::BitCast(I8x16(), second), mask))};
  }

  // In the file: 128 bytes of low nibbles, 64 of upper bits, 16 scales, d. Of 128
  // columns, byte l of 64 holds columns l and l + 64; byte l of 32 holds the upper
  // bits of columns l, l + 32, l + 64 and l + 96.
  static UnitWeights RawUnit(const uint8_t* raw, int64_t unit) {
    const int64_t half = unit / 4, in_half = unit % 4;
    const uint8_t* nibbles = raw + 64 * half + in_half % 2 * 32;
    const uint8_t* upper = raw + 128 + 32 * half;
    UnitWeights q;
    for (size_t l = 0; l < q.size(); ++l) {
      const int low = nibbles[l] >> in_half / 2 * 4 & 15;
      q[l] = static_cast<uint8_t>(low | (upper[l] >> 2 * in_half & 3) << 4);
    }
    return q;
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r] + 208, 2);
      for (int64_t i = 0; i < 16; ++i) out[kScales + 4 * i + r] = rows[r][192 + i];
      for (int64_t unit = 0; unit < 8; ++unit) {
        const UnitWeights q = RawUnit(rows[r], unit);
        PutNibbles(out + kNibbles + 64 * unit, r, q);
        PutTwoBits(out + kUpper + 32 * unit, r, q, 4);
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float d = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const auto scale = static_cast<int8_t>(block[kScales + 4 * (j / 16) + r]);
      const int q = NibbleOf(block + kNibbles, r, j) | TwoBitsOf(block + kUpper, r, j) << 4;
      out[j] = d * static_cast<float>(scale) * static_cast<float>(q - 32);
    }
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_K_FORMATS_H_
