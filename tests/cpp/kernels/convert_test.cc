#include "kernels/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace kvasir {
namespace {

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// The value of binary16 bits, from the format's definition.
float HalfByDefinition(uint16_t bits) {
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

TEST(ConvertTest, EveryBinary16ValueIsExact) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> floats(halves.size());
  F16ToF32(halves.data(), 65536, floats.data());
  for (size_t i = 0; i < halves.size(); ++i) {
    const float expected = HalfByDefinition(halves[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(floats[i])) << i;
    } else {
      EXPECT_EQ(Bits(floats[i]), Bits(expected)) << i;
    }
  }
}

TEST(ConvertTest, EveryBinary16ValueSurvivesTheWayBack) {
  for (int64_t n : {1, 3, 65536}) {
    std::vector<uint16_t> halves(static_cast<size_t>(n)), back(halves.size());
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i * 7919);
    std::vector<float> floats(halves.size());
    F16ToF32(halves.data(), n, floats.data());
    F32ToF16(floats.data(), n, back.data());
    for (size_t i = 0; i < halves.size(); ++i) {
      if (std::isnan(floats[i])) continue;
      EXPECT_EQ(back[i], halves[i]);
    }
  }
}

TEST(ConvertTest, RoundsToNearestAndTiesToEven) {
  const std::vector<std::pair<float, uint16_t>> cases = {
      {1.0f + 1.0f / 2048, 0x3c00},  // a tie: down to even
      {1.0f + 3.0f / 2048, 0x3c02},  // a tie: up to even
      {1.0f + 1.01f / 2048, 0x3c01},
      {std::ldexp(1.0f, -25), 0x0000},  // a tie below the smallest subnormal
      {std::ldexp(1.01f, -25), 0x0001},
      {std::ldexp(3.0f, -25), 0x0002},     // a tie between subnormals
      {std::ldexp(1023.5f, -24), 0x0400},  // the largest subnormal rounds up to normal
      {65504.0f, 0x7bff},
      {65519.0f, 0x7bff},
      {65520.0f, 0x7c00},  // overflows by rounding
      {1e10f, 0x7c00},
      {-0.0f, 0x8000},
      {-1e10f, 0xfc00},
      {std::numeric_limits<float>::infinity(), 0x7c00},
      {std::numeric_limits<float>::denorm_min(), 0x0000},
  };
  for (const auto& [value, expected] : cases) {
    uint16_t half;
    F32ToF16(&value, 1, &half);
    EXPECT_EQ(half, expected) << value;
  }
}

TEST(ConvertTest, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  uint16_t half;
  F32ToF16(&nan, 1, &half);
  EXPECT_EQ(half & 0x7c00, 0x7c00);
  EXPECT_NE(half & 0x03ff, 0);
}

TEST(ConvertTest, BF16IsTheUpperHalf) {
  std::vector<uint16_t> in;
  for (uint32_t i = 0; i < 65536; i += 7) in.push_back(static_cast<uint16_t>(i));
  std::vector<float> out(in.size());
  BF16ToF32(in.data(), static_cast<int64_t>(in.size()), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(Bits(out[i]), static_cast<uint32_t>(in[i]) << 16);
  }
}

}  // namespace
}  // namespace kvasir
