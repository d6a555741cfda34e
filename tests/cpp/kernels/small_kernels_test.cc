// Norm, RoPE, element-wise operations, and the vector exp and tanh under them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "simd/exp.h"

namespace kvasir {
namespace {

std::vector<float> Random(int64_t n, uint32_t seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

float VectorExp(float x) {
  const FloatTag df;
  return hn::GetLane(Exp(df, hn::Set(df, x)));
}

float VectorTanh(float x) {
  const FloatTag df;
  return hn::GetLane(Tanh(df, hn::Set(df, x)));
}

TEST(ExpTest, IsWithinAFewUnitsInTheLastPlace) {
  for (double x = -87.0; x < 88.7; x += 0.0137) {
    const float in = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(in));
    ASSERT_NEAR(VectorExp(in), exact, exact * 3e-7) << in;
  }
}

TEST(ExpTest, EndsAreClean) {
  EXPECT_EQ(VectorExp(0.0f), 1.0f);
  EXPECT_EQ(VectorExp(-88.0f), 0.0f);
  EXPECT_EQ(VectorExp(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(VectorExp(-3e38f), 0.0f);
  EXPECT_TRUE(std::isfinite(VectorExp(1000.0f)));
}

TEST(TanhTest, FollowsTanhAndSaturates) {
  for (float x = -12.0f; x < 12.0f; x += 0.0173f) {
    ASSERT_NEAR(VectorTanh(x), std::tanh(x), 5e-7) << x;
  }
  EXPECT_EQ(VectorTanh(100.0f), 1.0f);
  EXPECT_EQ(VectorTanh(-100.0f), -1.0f);
}

TEST(RmsNormTest, AgreesWithTheFormulaForEverySize) {
  for (int64_t dim : {1, 3, 4, 7, 8, 17, 64, 100, 576}) {
    constexpr int64_t kRows = 3;
    const std::vector<float> x = Random(kRows * dim, 1), weight = Random(dim, 2);
    std::vector<float> out(x.size());
    RmsNorm(x.data(), weight.data(), 1e-3f, kRows, dim, out.data());
    for (int64_t i = 0; i < kRows; ++i) {
      double square = 0;
      for (int64_t c = 0; c < dim; ++c) square += std::pow(x[static_cast<size_t>(i * dim + c)], 2);
      const double factor = 1.0 / std::sqrt(square / static_cast<double>(dim) + 1e-3);
      for (int64_t c = 0; c < dim; ++c) {
        const size_t at = static_cast<size_t>(i * dim + c);
        const double expected = x[at] * factor * weight[static_cast<size_t>(c)];
        ASSERT_NEAR(out[at], expected, 1e-6 * std::abs(expected) + 1e-7) << "dim " << dim;
      }
    }
  }
}

TEST(RmsNormTest, WorksInPlaceAndOnZeros) {
  std::vector<float> x = Random(20, 3);
  const std::vector<float> weight = Random(20, 4);
  std::vector<float> apart(20);
  RmsNorm(x.data(), weight.data(), 1e-5f, 1, 20, apart.data());
  RmsNorm(x.data(), weight.data(), 1e-5f, 1, 20, x.data());
  EXPECT_EQ(x, apart);
  std::vector<float> zeros(20, 0.0f);
  RmsNorm(zeros.data(), weight.data(), 1e-5f, 1, 20, zeros.data());
  EXPECT_EQ(zeros, std::vector<float>(20, 0.0f));
}

TEST(ElementwiseTest, AddsAndGatesEverySize) {
  for (int64_t n : {1, 2, 5, 8, 13, 64, 100}) {
    std::vector<float> sum = Random(n, 5), gate = Random(n, 6, 5.0f);
    const std::vector<float> x = sum, g = gate, y = Random(n, 7);
    AddInPlace(sum.data(), y.data(), n);
    SwiGlu(gate.data(), y.data(), n);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(sum[i], x[i] + y[i]);
      const double silu = g[i] / (1.0 + std::exp(-static_cast<double>(g[i])));
      ASSERT_NEAR(gate[i], silu * y[i], 2e-6 * std::abs(silu * y[i]) + 1e-9);
    }
  }
}

TEST(ElementwiseTest, GeGluScaleAndSoftCapFollowTheirFormulas) {
  for (int64_t n : {1, 2, 5, 8, 13, 64, 100}) {
    std::vector<float> gate = Random(n, 8, 3.0f), scaled = gate, capped = gate, sum = gate;
    const std::vector<float> g = gate, y = Random(n, 9);
    AddScaledInPlace(sum.data(), y.data(), 1.75f, n);
    GeGlu(gate.data(), y.data(), n);
    ScaleInPlace(scaled.data(), -0.25f, n);
    SoftCapInPlace(capped.data(), 2.5f, n);
    for (size_t i = 0; i < g.size(); ++i) {
      const double v = g[i];
      const double inner = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
      ASSERT_NEAR(gate[i], v / 2 * (1 + std::tanh(inner)) * y[i], 3e-6) << v;
      ASSERT_EQ(scaled[i], -0.25f * g[i]);
      ASSERT_NEAR(sum[i], v + 1.75 * y[i], 2e-6);
      ASSERT_NEAR(capped[i], 2.5 * std::tanh(v / 2.5), 3e-6) << v;
    }
  }
}

TEST(ElementwiseTest, GeGluOfExtremesIsFinite) {
  std::vector<float> gate = {-1e4f, 1e4f, -90.0f, 0.0f};
  const std::vector<float> up = {1.0f, 1.0f, 1.0f, 1.0f};
  GeGlu(gate.data(), up.data(), 4);
  EXPECT_NEAR(gate[0], 0.0f, 1e-30f);
  EXPECT_EQ(gate[1], 1e4f);
  EXPECT_EQ(gate[3], 0.0f);
}

TEST(ElementwiseTest, SwiGluOfExtremesIsFinite) {
  std::vector<float> gate = {-1e4f, 1e4f, -90.0f, 0.0f};
  const std::vector<float> up = {1.0f, 1.0f, 1.0f, 1.0f};
  SwiGlu(gate.data(), up.data(), 4);
  EXPECT_NEAR(gate[0], 0.0f, 1e-30f);
  EXPECT_EQ(gate[1], 1e4f);
  EXPECT_EQ(gate[3], 0.0f);
}

// Elements `first` and `second` of a head are pair j.
struct Pair {
  int64_t first, second;
};

Pair PairAt(RopePairs kind, int64_t j, int64_t pairs) {
  if (kind == RopePairs::kAdjacent) return {2 * j, 2 * j + 1};
  return {j, pairs + j};
}

TEST(RopeTest, RotatesPairsByPositionTimesSpeed) {
  for (RopePairs kind : {RopePairs::kAdjacent, RopePairs::kHalves}) {
    for (int64_t pairs : {1, 2, 3, 8, 20}) {
      const int64_t heads = 3, seq = 4, dim = 2 * pairs + 2, start = 11;
      std::vector<float> speeds;
      for (int64_t j = 0; j < pairs; ++j) speeds.push_back(1.0f / static_cast<float>(1 + j * j));
      std::vector<float> x = Random(seq * heads * dim, 8);
      const std::vector<float> before = x;
      RopeAngles angles;
      angles.Compute(speeds, 1.5f, start, seq);
      ApplyRope(HeadsOfRows(x.data(), heads, seq, dim), angles, kind);
      for (int64_t row = 0; row < seq * heads; ++row) {
        const float* now = x.data() + row * dim;
        const float* then = before.data() + row * dim;
        for (int64_t j = 0; j < pairs; ++j) {
          const auto [first, second] = PairAt(kind, j, pairs);
          const double position = static_cast<double>(start + row / heads);
          const double angle = position * speeds[static_cast<size_t>(j)];
          const double c = 1.5 * std::cos(angle), s = 1.5 * std::sin(angle);
          ASSERT_NEAR(now[first], then[first] * c - then[second] * s, 1e-5) << pairs << " pairs";
          ASSERT_NEAR(now[second], then[first] * s + then[second] * c, 1e-5) << pairs << " pairs";
        }
        for (int64_t d = 2 * pairs; d < dim; ++d) {
          ASSERT_EQ(now[d], then[d]) << "an element beyond the pairs changed";
        }
      }
    }
  }
}

}  // namespace
}  // namespace kvasir
