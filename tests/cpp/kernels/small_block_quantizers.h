// Floats to the blocks of the types with minima, tables and code books, in the plainest
// way: see block_quantizers.h.
#ifndef KVASIR_TESTS_CPP_KERNELS_SMALL_BLOCK_QUANTIZERS_H_
#define KVASIR_TESTS_CPP_KERNELS_SMALL_BLOCK_QUANTIZERS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/codebooks.h"
#include "kernels/coded_blocks.h"
#include "kernels/reference_blocks.h"

namespace kvasir {

// The largest value of n by its magnitude, with its sign.
inline float Largest(const float* x, int n) {
  return *std::max_element(x, x + n, [](float a, float b) { return std::abs(a) < std::abs(b); });
}

// Of `x` in steps of `step`, within [0, highest] once `offset` was added.
inline uint8_t Steps(float x, float step, int offset, int highest) {
  const long q = step == 0 ? 0 : std::lround(x / step);
  return static_cast<uint8_t>(std::clamp<long>(q + offset, 0, highest));
}

// The value of a table that is nearest to x / step.
inline uint8_t NearestCode(float x, float step, const int8_t* table) {
  const float wanted = step == 0 ? 0 : x / step;
  return static_cast<uint8_t>(std::min_element(table, table + 16,
                                               [&](int8_t a, int8_t b) {
                                                 return std::abs(static_cast<float>(a) - wanted) <
                                                        std::abs(static_cast<float>(b) - wanted);
                                               }) -
                              table);
}

// 32 codes to 16 bytes: byte j takes those of columns j and j + 16.
inline void PutHalves(const uint8_t* codes, uint8_t* out) {
  for (int j = 0; j < 16; ++j) out[j] = static_cast<uint8_t>(codes[j] | codes[j + 16] << 4);
}

// Q4_1 and Q5_1: the range of 32 values divided evenly.
inline void QuantizeWithMin(const float* x, int bits, uint8_t* block) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  const int levels = (1 << bits) - 1;
  PutHalf((*high - *low) / static_cast<float>(levels), block);
  PutHalf(*low, block + 2);
  uint8_t codes[32], fifth[4] = {};
  for (int j = 0; j < 32; ++j) {
    const uint8_t q = Steps(x[j] - HalfAt(block + 2), HalfAt(block), 0, levels);
    codes[j] = q & 15;
    fifth[j / 8] |= static_cast<uint8_t>(q >> 4 << j % 8);
  }
  if (bits == 5) std::copy(fifth, fifth + 4, block + 4);
  PutHalves(codes, block + (bits == 5 ? 8 : 4));
}

struct ScaleAndMin {
  float scale = 0, min = 0;
};

// Of 16 values in 2 bits. So few levels want a search: their ends move inwards until
// the sum of the squared errors is the least.
inline ScaleAndMin FitTwoBits(const float* x) {
  const auto [low, high] = std::minmax_element(x, x + 16);
  ScaleAndMin best;
  float least = std::numeric_limits<float>::infinity();
  for (int a = 8; a <= 16; ++a) {
    for (int b = 8; b <= 16; ++b) {
      const float min = -std::min(0.0f, *low) * static_cast<float>(a) / 16;
      const float scale = (std::max(0.0f, *high) * static_cast<float>(b) / 16 + min) / 3;
      float error = 0;
      for (int j = 0; j < 16; ++j) {
        const float off = scale * static_cast<float>(Steps(x[j] + min, scale, 0, 3)) - min - x[j];
        error += off * off;
      }
      if (error < least) {
        least = error;
        best = {scale, min};
      }
    }
  }
  return best;
}

// 16 values in 2 bits share a scale and a minimum.
inline void QuantizeQ2_K(const float* x, uint8_t* block) {
  float scales[16], mins[16];
  for (int part = 0; part < 16; ++part) {
    const ScaleAndMin fit = FitTwoBits(x + 16 * part);
    scales[part] = fit.scale;
    mins[part] = fit.min;
  }
  std::fill(block, block + 84, uint8_t{0});
  PutHalf(*std::max_element(scales, scales + 16) / 15, block + 80);
  PutHalf(*std::max_element(mins, mins + 16) / 15, block + 82);
  const float d = HalfAt(block + 80), dmin = HalfAt(block + 82);
  for (int part = 0; part < 16; ++part) {
    block[part] =
        static_cast<uint8_t>(Steps(scales[part], d, 0, 15) | Steps(mins[part], dmin, 0, 15) << 4);
  }
  for (int j = 0; j < 256; ++j) {
    const float scale = d * static_cast<float>(block[j / 16] & 15);
    const float min = dmin * static_cast<float>(block[j / 16] >> 4);
    const int q = Steps(x[j] + min, scale, 0, 3), unit = j / 32;
    block[16 + 32 * (unit / 4) + j % 32] |= static_cast<uint8_t>(q << unit % 4 * 2);
  }
}

// 16 values in 3 bits share a scale.
inline void QuantizeQ3_K(const float* x, uint8_t* block) {
  float scales[16];
  for (int part = 0; part < 16; ++part) scales[part] = Largest(x + 16 * part, 16) / -4;
  std::fill(block, block + 110, uint8_t{0});
  PutHalf(std::abs(Largest(scales, 16)) / 31, block + 108);
  const float d = HalfAt(block + 108);
  uint8_t* const packed = block + 96;
  uint8_t steps[16];
  for (int part = 0; part < 16; ++part) {
    steps[part] = Steps(scales[part], d, 32, 63);
    packed[part % 8] |= static_cast<uint8_t>((steps[part] & 15) << part / 8 * 4);
    packed[8 + part % 4] |= static_cast<uint8_t>(steps[part] >> 4 << part / 4 * 2);
  }
  for (int j = 0; j < 256; ++j) {
    const float scale = d * static_cast<float>(steps[j / 16] - 32);
    const int q = Steps(x[j], scale, 4, 7), unit = j / 32;
    block[32 + 32 * (unit / 4) + j % 32] |= static_cast<uint8_t>((q & 3) << unit % 4 * 2);
    block[j % 32] |= static_cast<uint8_t>(q >> 2 << unit);
  }
}

inline void QuantizeIQ4_NL(const float* x, uint8_t* block) {
  PutHalf(Largest(x, 32) / -127, block);
  uint8_t codes[32];
  for (int j = 0; j < 32; ++j) codes[j] = NearestCode(x[j], HalfAt(block), kIQ4Values);
  PutHalves(codes, block + 2);
}

inline void QuantizeMXFP4(const float* x, uint8_t* block) {
  const float largest = std::abs(Largest(x, 32));
  // The largest value is 12, and is to be reached or just not.
  block[0] =
      largest == 0 ? uint8_t{0} : static_cast<uint8_t>(128 + std::lround(std::log2(largest / 11)));
  uint8_t codes[32];
  for (int j = 0; j < 32; ++j) {
    codes[j] = NearestCode(x[j], std::ldexp(1.0f, block[0] - 128), kMXFP4Values);
  }
  PutHalves(codes, block + 1);
}

inline void QuantizeIQ4_XS(const float* x, uint8_t* block) {
  float scales[8];
  for (int part = 0; part < 8; ++part) scales[part] = Largest(x + 32 * part, 32) / -127;
  std::fill(block, block + 136, uint8_t{0});
  PutHalf(std::abs(Largest(scales, 8)) / 31, block);
  for (int part = 0; part < 8; ++part) {
    const uint8_t step = Steps(scales[part], HalfAt(block), 32, 63);
    block[2 + part / 4] |= static_cast<uint8_t>(step >> 4 << part % 4 * 2);
    block[4 + part / 2] |= static_cast<uint8_t>((step & 15) << part % 2 * 4);
    const float scale = HalfAt(block) * static_cast<float>(step - 32);
    uint8_t codes[32];
    for (int j = 0; j < 32; ++j) codes[j] = NearestCode(x[32 * part + j], scale, kIQ4Values);
    PutHalves(codes, block + 8 + 16 * part);
  }
}

// 32 values share a scale, 4 of them an entry of the code book; signs by themselves.
inline void QuantizeIQ3_S(const float* x, uint8_t* block) {
  static const Codebook<512, 4> book(kIQ3SSteps);
  std::fill(block, block + 110, uint8_t{0});
  float largest[8];
  for (int part = 0; part < 8; ++part) {
    largest[part] = std::abs(Largest(x + 32 * part, 32)) / 15;
  }
  PutHalf(*std::max_element(largest, largest + 8) / 31, block);
  const float d = HalfAt(block);
  for (int i = 0; i < 64; ++i) {
    const int part = i / 8;
    const uint8_t half = Steps(largest[part] - d, 2 * d, 0, 15);
    if (i % 8 == 0) block[106 + part / 2] |= static_cast<uint8_t>(half << part % 2 * 4);
    const float scale = d * static_cast<float>(2 * half + 1);
    uint32_t best = 0;
    float least = std::numeric_limits<float>::infinity();
    for (uint32_t entry = 0; entry < 512; ++entry) {
      const uint32_t values = book[entry];
      float error = 0;
      for (int j = 0; j < 4; ++j) {
        const float value = scale * static_cast<float>(2 * (values >> 4 * j & 15) + 1);
        error += (std::abs(x[4 * i + j]) - value) * (std::abs(x[4 * i + j]) - value);
      }
      if (error < least) {
        least = error;
        best = entry;
      }
    }
    block[2 + i] = static_cast<uint8_t>(best);
    block[66 + i / 8] |= static_cast<uint8_t>(best >> 8 << i % 8);
    for (int j = 0; j < 4; ++j) {
      const int sign = x[4 * i + j] < 0 ? 1 : 0;
      block[74 + i / 2] |= static_cast<uint8_t>(sign << (i % 2 * 4 + j));
    }
  }
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_KERNELS_SMALL_BLOCK_QUANTIZERS_H_
