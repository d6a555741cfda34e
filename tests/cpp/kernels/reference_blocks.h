// Quantized blocks as the formats define them: random ones, and what they mean.
#ifndef KVASIR_TESTS_CPP_KERNELS_REFERENCE_BLOCKS_H_
#define KVASIR_TESTS_CPP_KERNELS_REFERENCE_BLOCKS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/tensor_type.h"
#include "kernels/convert.h"
#include "kernels/weight_matrix.h"

namespace kvasir {

inline constexpr TensorType kPackedTypes[] = {
    TensorType::kQ8_0,    TensorType::kQ4_0,   TensorType::kQ4_1,   TensorType::kQ5_0,
    TensorType::kQ5_1,    TensorType::kQ2_K,   TensorType::kQ3_K,   TensorType::kQ4_K,
    TensorType::kQ5_K,    TensorType::kQ6_K,   TensorType::kIQ1_S,  TensorType::kIQ1_M,
    TensorType::kIQ2_XXS, TensorType::kIQ2_XS, TensorType::kIQ2_S,  TensorType::kIQ3_XXS,
    TensorType::kIQ3_S,   TensorType::kIQ4_NL, TensorType::kIQ4_XS, TensorType::kTQ1_0,
    TensorType::kTQ2_0,   TensorType::kMXFP4};

inline float HalfAt(const uint8_t* at) {
  uint16_t bits;
  float value;
  std::memcpy(&bits, at, sizeof(bits));
  F16ToF32(&bits, 1, &value);
  return value;
}

inline void PutHalf(float value, uint8_t* at) {
  uint16_t bits;
  F32ToF16(&value, 1, &bits);
  std::memcpy(at, &bits, sizeof(bits));
}

// Sets a block's f16 scales to `size` times what is usual.
inline void PutScales(TensorType type, float size, uint8_t* block) {
  switch (type) {
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:
      PutHalf(0.002f * size, block);
      PutHalf(0.003f * size, block + 2);
      break;
    case TensorType::kQ4_1:
    case TensorType::kQ5_1:
      PutHalf(0.05f * size, block);
      PutHalf(-0.5f * size, block + 2);
      break;
    case TensorType::kQ2_K:
      PutHalf(0.02f * size, block + 80);
      PutHalf(0.03f * size, block + 82);
      break;
    case TensorType::kQ3_K:
      PutHalf(0.004f * size, block + 108);
      break;
    case TensorType::kTQ1_0:
      PutHalf(0.05f * size, block + 52);
      break;
    case TensorType::kTQ2_0:
      PutHalf(0.05f * size, block + 64);
      break;
    case TensorType::kMXFP4:
      block[0] = static_cast<uint8_t>(124 + std::lround(size));
      break;
    case TensorType::kIQ1_M:  // the upper four bits of a finite f16
      block[55] = static_cast<uint8_t>((block[55] & 15) | 0x20);
      break;
    case TensorType::kIQ4_XS:
      PutHalf(0.0002f * size, block);
      break;
    case TensorType::kQ6_K:
      PutHalf(0.002f * size, block + 208);
      break;
    default:
      PutHalf(0.05f * size, block);
  }
}

// A block of random bytes with small scales; in Q8_0, -128 only if asked for.
inline void RandomBlock(TensorType type, std::mt19937& random, bool lowest, uint8_t* block) {
  const TensorTypeTraits traits = *FindTensorTypeTraits(type);
  for (int64_t j = 0; j < traits.block_bytes; ++j) {
    block[j] = static_cast<uint8_t>(random());
    if (type == TensorType::kQ8_0 && block[j] == 128 && !lowest) block[j] = 129;
  }
  std::normal_distribution<float> normal;
  PutScales(type, normal(random), block);
}

// The 6-bit scale and min of part `i` of 8, from their 12 bytes.
inline int KScale(const uint8_t* s, int i) {
  return i < 4 ? s[i] % 64 : s[i + 4] % 16 + 16 * (s[i - 4] / 64);
}
inline int KMin(const uint8_t* s, int i) {
  return i < 4 ? s[i + 4] % 64 : s[i + 4] / 16 + 16 * (s[i] / 64);
}

// The integer that element j of a block holds.
inline int BlockInteger(TensorType type, const uint8_t* block, int j) {
  const auto nibble = [](uint8_t byte, bool high) { return high ? byte / 16 : byte % 16; };
  const auto bit = [](uint8_t byte, int i) { return (byte >> i) % 2; };
  switch (type) {
    case TensorType::kQ8_0:
      return static_cast<int8_t>(block[2 + j]);
    case TensorType::kQ4_0:
      return nibble(block[2 + j % 16], j >= 16) - 8;
    case TensorType::kQ5_0:
      return nibble(block[6 + j % 16], j >= 16) + 16 * bit(block[2 + j / 8], j % 8) - 16;
    case TensorType::kQ4_K:
      return nibble(block[16 + j / 64 * 32 + j % 32], j / 32 % 2 == 1);
    case TensorType::kQ5_K:
      return nibble(block[48 + j / 64 * 32 + j % 32], j / 32 % 2 == 1) +
             16 * bit(block[16 + j % 32], j / 32);
    case TensorType::kQ6_K: {
      const int in_half = j % 128;
      const uint8_t low = block[64 * (j / 128) + in_half % 64];
      const uint8_t upper = block[128 + 32 * (j / 128) + in_half % 32];
      return nibble(low, in_half >= 64) + 16 * (upper >> in_half / 32 * 2 & 3) - 32;
    }
    default:
      return 0;
  }
}

// Whether BlockInteger and BlockValue know a type.
inline bool IsDefinedHere(TensorType type) {
  return type == TensorType::kQ8_0 || type == TensorType::kQ4_0 || type == TensorType::kQ5_0 ||
         type == TensorType::kQ4_K || type == TensorType::kQ5_K || type == TensorType::kQ6_K;
}

// What element j of a block means.
inline float BlockValue(TensorType type, const uint8_t* block, int j) {
  const auto q = static_cast<float>(BlockInteger(type, block, j));
  switch (type) {
    case TensorType::kQ4_K:
    case TensorType::kQ5_K: {
      const auto scale = static_cast<float>(KScale(block + 4, j / 32));
      const auto min = static_cast<float>(KMin(block + 4, j / 32));
      return HalfAt(block) * scale * q - HalfAt(block + 2) * min;
    }
    case TensorType::kQ6_K:
      return HalfAt(block + 208) * static_cast<float>(static_cast<int8_t>(block[192 + j / 16])) * q;
    default:
      return HalfAt(block) * q;
  }
}

// What whole blocks mean. What the types mean that are not defined here is compared with
// gguf-py: golden_blocks_test.cc.
inline std::vector<float> BlockValues(TensorType type, const std::vector<uint8_t>& bytes) {
  const TensorTypeTraits traits = *FindTensorTypeTraits(type);
  const auto block_bytes = static_cast<size_t>(traits.block_bytes);
  const auto count = static_cast<int64_t>(bytes.size() / block_bytes) * traits.block_elements;
  std::vector<float> values;
  if (!IsDefinedHere(type)) {
    WeightMatrixBuilder builder = *WeightMatrixBuilder::Create(type, 1, count);
    std::memcpy(builder.raw().data(), bytes.data(), bytes.size());
    values.resize(static_cast<size_t>(count));
    (*builder.Finish()).DequantizeRow(0, values.data());
    return values;
  }
  for (size_t at = 0; at < bytes.size(); at += block_bytes) {
    for (int j = 0; j < traits.block_elements; ++j) {
      values.push_back(BlockValue(type, &bytes[at], j));
    }
  }
  return values;
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_KERNELS_REFERENCE_BLOCKS_H_
