#include "kernels/quantize_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kvasir {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();

struct Quantized {
  explicit Quantized(std::vector<float> row) : in(std::move(row)), q(in.size()) {
    quantization = QuantizeRow(in.data(), static_cast<int64_t>(in.size()), q.data());
    back.resize(in.size());
    DequantizeRow(q.data(), static_cast<int64_t>(in.size()), quantization, back.data());
  }
  std::vector<float> in;
  std::vector<int8_t> q;
  RowQuantization quantization;
  std::vector<float> back;
};

TEST(QuantizeRowTest, FollowsItsDefinition) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int64_t n : {1, 3, 4, 16, 17, 64, 80, 256}) {
    for (float offset : {0.0f, 2.0f, -5.0f}) {
      std::vector<float> row(static_cast<size_t>(n));
      for (float& x : row) x = normal(random) + offset;
      const Quantized result(row);
      const float mn = std::min(0.0f, *std::min_element(row.begin(), row.end()));
      const float mx = std::max(0.0f, *std::max_element(row.begin(), row.end()));
      EXPECT_EQ(result.quantization.scale, (mx - mn) / 255.0f);
      const int zero_point = result.quantization.zero_point;
      EXPECT_NEAR(zero_point, -128 - mn / result.quantization.scale, 0.51);
      for (size_t i = 0; i < row.size(); ++i) {
        const float scaled = std::nearbyint(row[i] / result.quantization.scale);
        EXPECT_EQ(result.q[i], std::clamp(static_cast<int>(scaled) + zero_point, -128, 127));
        EXPECT_NEAR(result.back[i], row[i], result.quantization.scale * 0.5001f);
      }
    }
  }
}

TEST(QuantizeRowTest, ZeroIsExact) {
  const Quantized result({0.0f, -3.7f, 0.0f, 1.1f, 0.0f});
  EXPECT_EQ(result.back[0], 0.0f);
  EXPECT_EQ(result.back[4], 0.0f);
}

TEST(QuantizeRowTest, ARowOfZerosComesBackAsZeros) {
  const Quantized result(std::vector<float>(64, 0.0f));
  EXPECT_EQ(result.quantization.scale, kEpsilon);
  EXPECT_EQ(result.back, result.in);
}

TEST(QuantizeRowTest, TinyValuesMeetTheLeastScale) {
  const Quantized result({1e-9f, -2e-9f, 3 * kEpsilon, -100 * kEpsilon});
  EXPECT_EQ(result.quantization.scale, kEpsilon);
  EXPECT_EQ(result.back, (std::vector<float>{0, 0, 3 * kEpsilon, -100 * kEpsilon}));
}

TEST(QuantizeRowTest, HalvesAreRoundedToEven) {
  // The largest is 255, so that the scale is 1 and the zero point -128.
  const Quantized result({255.0f, 0.5f, 1.5f, 2.5f, 3.5f, 254.5f});
  EXPECT_EQ(result.quantization.scale, 1.0f);
  EXPECT_EQ(result.q, (std::vector<int8_t>{127, -128, -126, -126, -124, 126}));
}

TEST(QuantizeRowTest, RowsOfOneSignUseTheWholeRange) {
  EXPECT_EQ(Quantized({1.0f, 2.0f, 255.0f}).quantization.zero_point, -128);
  EXPECT_EQ(Quantized({-1.0f, -2.0f, -255.0f}).quantization.zero_point, 127);
  EXPECT_EQ(Quantized({-1.0f, -2.0f, -255.0f}).q[2], -128);
}

TEST(QuantizeRowTest, LargeValuesStayFinite) {
  const Quantized result({1e38f, -1e38f, 5e37f});
  for (float x : result.back) EXPECT_TRUE(std::isfinite(x));
  EXPECT_NEAR(result.back[0] / 1e38f, 1.0f, 0.01f);
}

}  // namespace
}  // namespace kvasir
