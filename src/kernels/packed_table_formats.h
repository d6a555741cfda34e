// The packed forms of types whose nibbles stand for values of a table. See
// packed_formats.h. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_TABLE_FORMATS_H_
#define KVASIR_KERNELS_PACKED_TABLE_FORMATS_H_

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/coded_blocks.h"
#include "kernels/packed_formats.h"

namespace kvasir {

HWY_INLINE WeightPair TableValues(WeightPair codes, const int8_t* table) {
  const auto values = hn::LoadU(I8x16(), table);
  return {LookUp16(values, codes.first), LookUp16(values, codes.second)};
}

// 4 scales; 4 vectors of nibbles.
struct PackedIQ4_NL : OneScale<0> {
  static constexpr int64_t kRawBytes = 18, kBytes = 4 * kRawBytes;
  static constexpr bool kSigned = true;

  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    return TableValues(NibblePair(block + 8 + 16 * i), kIQ4Values);
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    PackedQ4_0::PackBlock(rows, out);
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      out[j] = scale * static_cast<float>(kIQ4Values[NibbleOf(block + 8, r, j)]);
    }
  }
};

// 4 exponents; 4 vectors of nibbles. The table's values are twice those of the
// standard, so that the scale is 2^(e - 128).
struct PackedMXFP4 : OneScale<0> {
  static constexpr int64_t kRawBytes = 17, kBytes = 4 * kRawBytes;
  static constexpr bool kSigned = true;

  // The two least exponents are those of subnormal numbers.
  static float ScaleOfExponent(uint8_t e) {
    return std::bit_cast<float>(e < 2 ? uint32_t{1} << (21 + e) : (uint32_t{e} - 1) << 23);
  }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header&, const uint8_t* block, int, int) {
    const auto e = hn::PromoteTo(I32x4(), hn::LoadU(hn::FixedTag<uint8_t, 4>(), block));
    const auto one = hn::Set(I32x4(), 1);
    const auto subnormal = hn::ShiftLeft<21>(hn::Add(e, one));  // of 0 and 1
    const auto normal = hn::ShiftLeft<23>(hn::Sub(e, one));
    return hn::BitCast(F32x4(), hn::IfThenElse(hn::Gt(e, one), normal, subnormal));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int /*unit*/, int i) {
    return TableValues(NibblePair(block + 4 + 16 * i), kMXFP4Values);
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      out[r] = rows[r][0];
      PutNibbles(out + 4, r, HalvesOfNibbles(rows[r] + 1));
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float scale = ScaleOfExponent(block[r]);
    for (int64_t j = 0; j < kColumns; ++j) {
      out[j] = scale * static_cast<float>(kMXFP4Values[NibbleOf(block + 4, r, j)]);
    }
  }
};

// w = d * scale * value: d of the block, a scale of -32 to 31 of 32 columns. Packed: 4
// d; 8 x 4 scales; 32 vectors of nibbles.
struct PackedIQ4_XS {
  static constexpr int64_t kColumns = 256, kRawBytes = 136, kBytes = 552;
  static constexpr int64_t kScales = 8, kNibbles = 40;
  static constexpr int kOffset = 0, kParts = 1, kMinCount = 0;
  static constexpr bool kSigned = true;
  struct Header {
    hn::Vec<F32x4> d;
  };

  static HWY_INLINE Header Load(const uint8_t* block) { return {LoadFiniteF16(block)}; }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header& header, const uint8_t* block, int unit,
                                         int /*part*/) {
    return hn::Mul(header.d, FourBytes<int8_t>(block + kScales + 4 * unit));
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int unit, int i) {
    return TableValues(NibblePair(block + kNibbles + 64 * unit + 16 * i), kIQ4Values);
  }

  // In the file: d; 2 bytes with the upper two bits of 8 scales, 4 with the lower four;
  // nibbles.
  static int RawScale(const uint8_t* raw, int64_t i) {
    const int upper = raw[2 + i / 4] >> i % 4 * 2 & 3;
    return (raw[4 + i / 2] >> i % 2 * 4 & 15) | upper << 4;
  }
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    for (int64_t r = 0; r < kGroupRows; ++r) {
      std::memcpy(out + 2 * r, rows[r], 2);
      for (int64_t i = 0; i < 8; ++i) {
        out[kScales + 4 * i + r] = static_cast<uint8_t>(RawScale(rows[r], i) - 32);
        PutNibbles(out + kNibbles + 64 * i, r, HalvesOfNibbles(rows[r] + 8 + 16 * i));
      }
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    const float d = ScaleOf(block + 2 * r);
    for (int64_t j = 0; j < kColumns; ++j) {
      const auto scale = static_cast<int8_t>(block[kScales + j / 32 * 4 + r]);
      const int code = NibbleOf(block + kNibbles, r, j);
      out[j] = d * static_cast<float>(scale) * static_cast<float>(kIQ4Values[code]);
    }
  }
};

// Coded blocks (coded_blocks.h). Packed: 4 d in f32; the table; 16 x 4 scales; 32
// vectors of codes.
struct PackedCodes {
  static constexpr int64_t kColumns = 256, kBytes = 608;
  static constexpr int64_t kTable = 16, kScales = 32, kCodes = 96;
  static constexpr int kOffset = 0, kParts = 2, kMinCount = 0;
  static constexpr bool kSigned = true;
  struct Header {
    hn::Vec<F32x4> d;
  };

  static HWY_INLINE Header Load(const uint8_t* block) {
    return {hn::LoadU(F32x4(), reinterpret_cast<const float*>(block))};
  }
  static HWY_INLINE hn::Vec<F32x4> Scale(const Header& header, const uint8_t* block, int unit,
                                         int part) {
    return hn::Mul(header.d, FourBytes<uint8_t>(block + kScales + 8 * unit + 4 * part));
  }
  static const int8_t* Table(const uint8_t* block) {
    return reinterpret_cast<const int8_t*>(block + kTable);
  }
  static HWY_INLINE WeightPair Pair(const uint8_t* block, int unit, int i) {
    return TableValues(NibblePair(block + kCodes + 64 * unit + 16 * i), Table(block));
  }

  static void PutRow(const CodedBlock& row, int64_t r, uint8_t* out) {
    std::memcpy(out + 4 * r, &row.d, sizeof(row.d));
    std::memcpy(out + kTable, row.table, 16);
    for (int64_t i = 0; i < 16; ++i) out[kScales + 4 * i + r] = row.scales[i];
    for (int64_t unit = 0; unit < 8; ++unit) {
      UnitWeights codes;
      std::memcpy(codes.data(), row.codes + 32 * unit, codes.size());
      PutNibbles(out + kCodes + 64 * unit, r, codes);
    }
  }
  static void UnpackRow(const uint8_t* block, int64_t r, float* out) {
    float d;
    std::memcpy(&d, block + 4 * r, sizeof(d));
    for (int64_t j = 0; j < kColumns; ++j) {
      const uint8_t scale = block[kScales + j / 16 * 4 + r];
      out[j] = d * static_cast<float>(scale) *
               static_cast<float>(Table(block)[NibbleOf(block + kCodes, r, j)]);
    }
  }
};

// Of a type whose blocks `kDecode` reads.
template <int64_t kFileBytes, void (*kDecode)(const uint8_t* raw, CodedBlock& out)>
struct PackedFromCodes : PackedCodes {
  static constexpr int64_t kRawBytes = kFileBytes;
  static void PackBlock(const uint8_t* const* rows, uint8_t* out) {
    CodedBlock row;
    for (int64_t r = 0; r < kGroupRows; ++r) {
      kDecode(rows[r], row);
      PutRow(row, r, out);
    }
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_TABLE_FORMATS_H_
