// How quantized weights lie when they are packed: rows in groups of four,
// interleaved so that a vector of 16 bytes holds 4 columns of each row and the
// four lanes of a sum are the four rows. Internal to the kernels.
//
// A format packs blocks of kColumns columns of a group, and is multiplied in units
// of 32 columns, 8 vectors:
//   kRawBytes    of one row's block in the file; a format that takes several types has
//                one that extends it for each: see packed_types.h
//   kBytes       of a group's block, at least four times kRawBytes
//   kSigned      whether weights are i8; else 0..63 with kOffset to take off
//   kParts       scales of a unit
//   kMinCount    how many values are taken off the weights of a unit: of none, of all,
//                or of each part
//   Header       what holds for a whole block
//   Pair         two of the vectors of a unit, 8 columns
//   Bytes        with kSigned, where vector i of the unit is, if it is in memory
//   Scale        of one part of a unit
//   Min          with kMinCount, what is taken off a part
//   PackBlock    from the file's blocks of four rows
//   UnpackRow    one row's block as floats
#ifndef KVASIR_KERNELS_PACKED_FORMATS_H_
#define KVASIR_KERNELS_PACKED_FORMATS_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "simd/constants.h"

namespace kvasir {

inline constexpr int64_t kGroupRows = 4;

struct WeightPair {
  hn::Vec<I8x16> first, second;
};

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
  // 16-bit shifts: engines have no others.
  const auto q = hn::BitCast(U16x8(), hn::LoadU(U8x16(), in));
  const auto mask = ConstantBytes(kLowNibbleBytes);
  return {hn::And(hn::BitCast(I8x16(), q), mask),
          hn::And(hn::BitCast(I8x16(), hn::ShiftRight<4>(q)), mask)};
}

// Where column j of row r stands among vectors of nibbles.
inline int NibbleOf(const uint8_t* in, int64_t r, int64_t j) {
  const uint8_t byte = in[16 * (j / 8) + 4 * r + j % 4];
  return j % 8 < 4 ? byte & 15 : byte >> 4;
}

// The weights of 32 columns of a row, from 0 to 255.
using UnitWeights = std::array<uint8_t, 32>;

inline uint32_t FourWeights(const UnitWeights& q, size_t first) {
  uint32_t four;
  std::memcpy(&four, q.data() + first, sizeof(four));
  return four;
}
// Row r of a unit's 4 vectors of nibbles: columns of which 4 bits are kept.
inline void PutNibbles(uint8_t* out, int64_t r, const UnitWeights& q) {
  for (size_t v = 0; v < 4; ++v) {
    const uint32_t low = FourWeights(q, 8 * v), high = FourWeights(q, 8 * v + 4);
    const uint32_t word = (low & 0x0f0f0f0f) | (high & 0x0f0f0f0f) << 4;
    std::memcpy(out + 16 * v + 4 * static_cast<size_t>(r), &word, sizeof(word));
  }
}

// A block of one unit, that begins with its scales.
template <int kTakenOff>
struct OneScale {
  static constexpr int64_t kColumns = 32;
  static constexpr int kOffset = kTakenOff, kParts = 1;
  static constexpr int kMinCount = 0;
  struct Header {};
  static HWY_INLINE Header Load(const uint8_t*) { return {}; }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header&, const uint8_t* block, int, int) {
    return LoadFiniteF16(block);
  }
};

// 4 scales; 8 vectors of bytes.
struct PackedQ8_0 : OneScale<0> {
  static constexpr int64_t kRawBytes = 34, kBytes = 4 * kRawBytes;
  static constexpr bool kSigned = true;

  static HWY_INLINE const int8_t* Bytes(const uint8_t* block, int i) {
    return reinterpret_cast<const int8_t*>(block) + 8 + 16 * i;
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    return {hn::LoadU(I8x16(), Bytes(block, 2 * i)), hn::LoadU(I8x16(), Bytes(block, 2 * i + 1))};
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

// 16 bytes of a file, of which byte j holds columns j and j + 16.
inline UnitWeights HalvesOfNibbles(const uint8_t* raw) {
  UnitWeights q;
  for (size_t j = 0; j < 16; ++j) {
    q[j] = raw[j] & 15;
    q[j + 16] = raw[j] >> 4;
  }
  return q;
}

// 4 scales; 4 vectors of nibbles.
struct PackedQ4_0 : OneScale<8> {
  static constexpr int64_t kRawBytes = 18, kBytes = 4 * kRawBytes;
  static constexpr bool kSigned = false;

  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    return NibblePair(block + 8 + 16 * i);
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      PutNibbles(out + 8, r, HalvesOfNibbles(rows[r] + 2));
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      out[j] = static_cast<float>(NibbleOf(block + 8, r, j) - 8) * scale;
    }
  }
};

// One bit of 8 vectors: bit v of a byte belongs to the byte's place in vector v. It
// is bit `kBit` of the weights, which is the one in `mask`.
template <int kBit>
HWY_INLINE hn::Vec<I8x16> OneBit(const uint8_t* in, int v, const uint8_t (&mask)[16]) {
  const auto bits = hn::BitCast(U16x8(), hn::LoadU(U8x16(), in));
  const auto moved =
      v < kBit ? hn::ShiftLeftSame(bits, kBit - v) : hn::ShiftRightSame(bits, v - kBit);
  return hn::And(hn::BitCast(I8x16(), moved), ConstantBytes(mask));
}
template <int kBit>
HWY_INLINE WeightPair WithBits(WeightPair low, const uint8_t* in, int i,
                               const uint8_t (&mask)[16]) {
  return {hn::Or(low.first, OneBit<kBit>(in, 2 * i, mask)),
          hn::Or(low.second, OneBit<kBit>(in, 2 * i + 1, mask))};
}
HWY_INLINE WeightPair WithFifthBits(WeightPair low, const uint8_t* in, int i) {
  return WithBits<4>(low, in, i, kFifthBitBytes);
}
inline int OneBitOf(const uint8_t* in, int64_t r, int64_t j) {
  return in[4 * r + j % 4] >> j / 4 & 1;
}
// Row r of a unit's vector of bits number `bit` of its weights.
inline void PutBits(uint8_t* out, int64_t r, const UnitWeights& q, int bit) {
  uint32_t word = 0;
  for (size_t v = 0; v < 8; ++v) word |= (FourWeights(q, 4 * v) >> bit & 0x01010101) << v;
  std::memcpy(out + 4 * r, &word, sizeof(word));
}

// 4 bytes of a file with a fifth bit each column, and 16 with the others.
inline UnitWeights HalvesWithFifthBits(const uint8_t* raw) {
  uint32_t fifth;
  std::memcpy(&fifth, raw, sizeof(fifth));
  UnitWeights q = HalvesOfNibbles(raw + 4);
  for (size_t j = 0; j < q.size(); ++j) q[j] |= static_cast<uint8_t>((fifth >> j & 1) << 4);
  return q;
}

// 4 scales; 4 vectors of nibbles; a vector of fifth bits.
struct PackedQ5_0 : OneScale<16> {
  static constexpr int64_t kRawBytes = 22, kBytes = 4 * kRawBytes, kFifth = 72;
  static constexpr bool kSigned = false;

  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    return WithFifthBits(NibblePair(block + 8 + 16 * i), block + kFifth, i);
  }
  // In the file: the scale, 4 bytes of fifth bits, and nibbles as in Q4_0.
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      const UnitWeights q = HalvesWithFifthBits(rows[r] + 2);
      PutNibbles(out + 8, r, q);
      PutBits(out + kFifth, r, q, 4);
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const int q = NibbleOf(block + 8, r, j) | OneBitOf(block + kFifth, r, j) << 4;
      out[j] = static_cast<float>(q - 16) * scale;
    }
  }
};

// w = d * q + m, in four or five bits: Q4_1 and Q5_1. 4 d; 4 m; 4 vectors of nibbles;
// for q of five bits, a vector of fifth bits.
template <bool kFiveBits>
struct PackedWithMin {
  static constexpr int64_t kColumns = 32, kNibbles = 16, kFifth = 80;
  static constexpr int64_t kRawBytes = kFiveBits ? 24 : 20, kBytes = 4 * kRawBytes;
  // Five bits with 16 taken off add up to 32 columns within 16 bits.
  static constexpr int kOffset = kFiveBits ? 16 : 0, kParts = 1, kMinCount = 1;
  static constexpr bool kSigned = false;
  struct Header {};

  static HWY_INLINE Header Load(const uint8_t*) { return {}; }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header&, const uint8_t* block, int, int) {
    return LoadFiniteF16(block);
  }
  static HWY_INLINE hn::Vec<F32x4> Min(const Header&, const uint8_t* block, int, int) {
    const auto min = hn::Neg(LoadFiniteF16(block + 8));
    if constexpr (kOffset == 0) return min;
    const auto offset = hn::Set(F32x4(), static_cast<float>(kOffset));
    return hn::Sub(min, hn::Mul(offset, LoadFiniteF16(block)));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    const WeightPair low = NibblePair(block + kNibbles + 16 * i);
    if constexpr (!kFiveBits) return low;
    return WithFifthBits(low, block + kFifth, i);
  }

  // In the file: d, m, and the rest as in Q4_0 and Q5_0.
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      std::memcpy(out + 8 + 2 * r, rows[r] + 2, 2);
      const UnitWeights q =
          kFiveBits ? HalvesWithFifthBits(rows[r] + 4) : HalvesOfNibbles(rows[r] + 4);
      PutNibbles(out + kNibbles, r, q);
      if (kFiveBits) PutBits(out + kFifth, r, q, 4);
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r), min = ScaleOf(block + 8 + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      int q = NibbleOf(block + kNibbles, r, j);
      if (kFiveBits) q |= OneBitOf(block + kFifth, r, j) << 4;
      out[j] = scale * static_cast<float>(q) + min;
    }
  }
};

using PackedQ4_1 = PackedWithMin<false>;
using PackedQ5_1 = PackedWithMin<true>;

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_FORMATS_H_
