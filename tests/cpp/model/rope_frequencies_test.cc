#include "model/rope_frequencies.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kvasir {
namespace {

RopeConfig Plain() {
  RopeConfig rope;
  rope.dims = 8;
  rope.theta = 10000.0;
  rope.original_context_length = 4096;
  return rope;
}

TEST(RopeFrequenciesTest, PlainSpeedsFallGeometrically) {
  const RopeFrequencies plain = MakeRopeFrequencies(Plain(), {});
  ASSERT_EQ(plain.inv_freq.size(), 4u);
  EXPECT_FLOAT_EQ(plain.inv_freq[0], 1.0f);
  EXPECT_FLOAT_EQ(plain.inv_freq[1], 0.1f);
  EXPECT_FLOAT_EQ(plain.inv_freq[2], 0.01f);
  EXPECT_FLOAT_EQ(plain.inv_freq[3], 0.001f);
  EXPECT_EQ(plain.magnitude, 1.0f);
}

TEST(RopeFrequenciesTest, LinearScalingDividesEverySpeed) {
  RopeConfig rope = Plain();
  rope.scaling = RopeScaling::kLinear;
  rope.factor = 4.0;
  const RopeFrequencies linear = MakeRopeFrequencies(rope, {});
  EXPECT_FLOAT_EQ(linear.inv_freq[0], 0.25f);
  EXPECT_FLOAT_EQ(linear.inv_freq[3], 0.00025f);
  EXPECT_EQ(linear.magnitude, 1.0f);
}

TEST(RopeFrequenciesTest, DivisorsFromTheFileDivideTheirOwnPair) {
  const std::vector<float> divisors = {1.0f, 2.0f, 4.0f, 8.0f};
  const RopeFrequencies divided = MakeRopeFrequencies(Plain(), divisors);
  EXPECT_FLOAT_EQ(divided.inv_freq[0], 1.0f);
  EXPECT_FLOAT_EQ(divided.inv_freq[1], 0.05f);
  EXPECT_FLOAT_EQ(divided.inv_freq[2], 0.0025f);
  EXPECT_FLOAT_EQ(divided.inv_freq[3], 0.000125f);
}

// With 128 dims, theta 10000 and an original context of 4096: pairs below
// floor(64 ln(4096 / (32 * 2 pi)) / ln 10000) = 20 keep their speed, pairs from
// ceil(64 ln(4096 / (2 pi)) / ln 10000) = 46 on are slowed by the whole factor.
TEST(RopeFrequenciesTest, YarnKeepsFastPairsAndSlowsSlowOnes) {
  RopeConfig rope = Plain();
  rope.dims = 128;
  const RopeFrequencies plain = MakeRopeFrequencies(rope, {});
  rope.scaling = RopeScaling::kYarn;
  rope.factor = 8.0;
  rope.attention_factor = 0.5;
  const RopeFrequencies yarn = MakeRopeFrequencies(rope, {});
  EXPECT_FLOAT_EQ(yarn.inv_freq[20], plain.inv_freq[20]);
  EXPECT_LT(yarn.inv_freq[21], plain.inv_freq[21] * 0.999f);
  EXPECT_FLOAT_EQ(yarn.inv_freq[33], plain.inv_freq[33] * (0.5f + 0.5f / 8.0f));
  EXPECT_GT(yarn.inv_freq[45], plain.inv_freq[45] / 8.0f * 1.001f);
  EXPECT_FLOAT_EQ(yarn.inv_freq[46], plain.inv_freq[46] / 8.0f);
  EXPECT_FLOAT_EQ(yarn.magnitude, 0.5f * (1.0f + 0.1f * std::log(8.0f)));
}

TEST(RopeFrequenciesTest, TheAttentionFactorCountsUnderEveryScaling) {
  RopeConfig rope = Plain();
  rope.factor = 4.0;
  rope.attention_factor = 0.75;
  for (RopeScaling scaling : {RopeScaling::kNone, RopeScaling::kLinear}) {
    rope.scaling = scaling;
    EXPECT_FLOAT_EQ(MakeRopeFrequencies(rope, {}).magnitude, 0.75f);
  }
}

}  // namespace
}  // namespace kvasir
