// Floats to the blocks that files hold, in the plainest way: whole ranges divided
// evenly, nothing searched. Good enough to make quantized models of trained ones.
#ifndef KVASIR_TESTS_CPP_KERNELS_BLOCK_QUANTIZERS_H_
#define KVASIR_TESTS_CPP_KERNELS_BLOCK_QUANTIZERS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/tensor_type.h"
#include "kernels/reference_blocks.h"
#include "kernels/small_block_quantizers.h"

namespace kvasir {

// 32 values in 4 or 5 bits: the largest one takes the integer that is farthest
// from zero, -8 or -16.
inline void QuantizeSigned(const float* x, int bits, uint8_t* block) {
  const int half = 1 << (bits - 1);
  PutHalf(Largest(x, 32) / static_cast<float>(-half), block);
  const float scale = HalfAt(block);
  uint8_t* const fifth = block + 2;
  uint8_t* const nibbles = bits == 5 ? block + 6 : block + 2;
  std::fill(fifth, nibbles + 16, uint8_t{0});
  for (int j = 0; j < 32; ++j) {
    const int q = Steps(x[j], scale, half, 2 * half - 1);
    nibbles[j % 16] |= static_cast<uint8_t>((q & 15) << (j < 16 ? 0 : 4));
    if (bits == 5) fifth[j / 8] |= static_cast<uint8_t>((q >> 4) << j % 8);
  }
}

inline void QuantizeBytes(const float* x, uint8_t* block) {
  PutHalf(std::abs(Largest(x, 32)) / 127, block);
  const float scale = HalfAt(block);
  for (int j = 0; j < 32; ++j) {
    const int q = Steps(x[j], scale, 127, 254) - 127;
    block[2 + j] = static_cast<uint8_t>(static_cast<int8_t>(q));
  }
}

// 256 values in 4 or 5 bits: 32 of them share a scale and a minimum, not above 0.
inline void QuantizeWithMins(const float* x, int bits, uint8_t* block) {
  const int levels = (1 << bits) - 1;
  float scales[8], mins[8];
  for (int part = 0; part < 8; ++part) {
    const auto [low, high] = std::minmax_element(x + 32 * part, x + 32 * part + 32);
    mins[part] = -std::min(0.0f, *low);
    scales[part] = (std::max(0.0f, *high) + mins[part]) / static_cast<float>(levels);
  }
  std::fill(block, block + (bits == 5 ? 176 : 144), uint8_t{0});
  PutHalf(*std::max_element(scales, scales + 8) / 63, block);
  PutHalf(*std::max_element(mins, mins + 8) / 63, block + 2);
  uint8_t* const packed = block + 4;
  for (int part = 0; part < 8; ++part) {
    const uint8_t scale = Steps(scales[part], HalfAt(block), 0, 63);
    const uint8_t min = Steps(mins[part], HalfAt(block + 2), 0, 63);
    if (part < 4) {
      packed[part] |= scale;
      packed[part + 4] |= min;
    } else {
      packed[part + 4] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
      packed[part - 4] |= static_cast<uint8_t>(scale >> 4 << 6);
      packed[part] |= static_cast<uint8_t>(min >> 4 << 6);
    }
  }
  uint8_t* const fifth = block + 16;
  uint8_t* const nibbles = bits == 5 ? block + 48 : block + 16;
  for (int j = 0; j < 256; ++j) {
    const int part = j / 32;
    const float scale = HalfAt(block) * static_cast<float>(KScale(packed, part));
    const float min = HalfAt(block + 2) * static_cast<float>(KMin(packed, part));
    const int q = Steps(x[j] + min, scale, 0, levels);
    nibbles[j / 64 * 32 + j % 32] |= static_cast<uint8_t>((q & 15) << (part % 2 == 0 ? 0 : 4));
    if (bits == 5) fifth[j % 32] |= static_cast<uint8_t>((q >> 4) << part);
  }
}

// 256 values in 6 bits: 16 of them share a scale.
inline void QuantizeSixBits(const float* x, uint8_t* block) {
  float scales[16];
  for (int part = 0; part < 16; ++part) scales[part] = Largest(x + 16 * part, 16) / -32;
  std::fill(block, block + 210, uint8_t{0});
  PutHalf(std::abs(Largest(scales, 16)) / 127, block + 208);
  const float d = HalfAt(block + 208);
  for (int part = 0; part < 16; ++part) {
    block[192 + part] =
        static_cast<uint8_t>(static_cast<int8_t>(Steps(scales[part], d, 127, 254) - 127));
  }
  for (int j = 0; j < 256; ++j) {
    const float scale = d * static_cast<float>(static_cast<int8_t>(block[192 + j / 16]));
    const int q = Steps(x[j], scale, 32, 63), in_half = j % 128;
    block[64 * (j / 128) + in_half % 64] |=
        static_cast<uint8_t>((q & 15) << (in_half < 64 ? 0 : 4));
    block[128 + 32 * (j / 128) + in_half % 32] |= static_cast<uint8_t>(q >> 4 << in_half / 32 * 2);
  }
}

// As many values as a block of `type` holds.
inline void QuantizeBlock(TensorType type, const float* x, uint8_t* block) {
  switch (type) {
    case TensorType::kF32:
      std::memcpy(block, x, sizeof(*x));
      break;
    case TensorType::kF16:
      PutHalf(*x, block);
      break;
    case TensorType::kBF16: {  // to the nearest; a tie goes up
      const auto bits = static_cast<uint16_t>((std::bit_cast<uint32_t>(*x) + 0x8000) >> 16);
      std::memcpy(block, &bits, sizeof(bits));
      break;
    }
    case TensorType::kQ8_0:
      QuantizeBytes(x, block);
      break;
    case TensorType::kQ4_0:
      QuantizeSigned(x, 4, block);
      break;
    case TensorType::kQ5_0:
      QuantizeSigned(x, 5, block);
      break;
    case TensorType::kQ4_K:
      QuantizeWithMins(x, 4, block);
      break;
    case TensorType::kQ5_K:
      QuantizeWithMins(x, 5, block);
      break;
    case TensorType::kQ6_K:
      QuantizeSixBits(x, block);
      break;
    case TensorType::kQ4_1:
      QuantizeWithMin(x, 4, block);
      break;
    case TensorType::kQ5_1:
      QuantizeWithMin(x, 5, block);
      break;
    case TensorType::kQ2_K:
      QuantizeQ2_K(x, block);
      break;
    case TensorType::kQ3_K:
      QuantizeQ3_K(x, block);
      break;
    case TensorType::kIQ4_NL:
      QuantizeIQ4_NL(x, block);
      break;
    case TensorType::kIQ4_XS:
      QuantizeIQ4_XS(x, block);
      break;
    case TensorType::kMXFP4:
      QuantizeMXFP4(x, block);
      break;
    case TensorType::kIQ3_S:
      QuantizeIQ3_S(x, block);
      break;
    default:
      FAIL() << "no quantizer for type " << static_cast<int>(type);
  }
}

// What the block means, by the type's definition.
inline void DequantizeBlock(TensorType type, const uint8_t* block, float* out) {
  if (type == TensorType::kF32) {
    std::memcpy(out, block, sizeof(*out));
  } else if (type == TensorType::kF16) {
    *out = HalfAt(block);
  } else if (type == TensorType::kBF16) {
    uint16_t bits;
    std::memcpy(&bits, block, sizeof(bits));
    *out = std::bit_cast<float>(uint32_t{bits} << 16);
  } else {
    const std::vector<float> values =
        BlockValues(type, {block, block + FindTensorTypeTraits(type)->block_bytes});
    std::copy(values.begin(), values.end(), out);
  }
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_KERNELS_BLOCK_QUANTIZERS_H_
