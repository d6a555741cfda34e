#include "sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>

namespace kvasir {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Options with everything off but the temperature.
SamplerOptions Plain(float temperature = 1.0f) {
  SamplerOptions options;
  options.temperature = temperature;
  options.top_k = 0;
  options.top_p = 1.0f;
  options.min_p = 0.0f;
  return options;
}

std::vector<int32_t> Draw(const SamplerOptions& options, const std::vector<float>& logits,
                          int count, std::vector<int32_t> history = {}) {
  Result<Sampler> sampler = Sampler::Create(options, static_cast<int32_t>(logits.size()));
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  std::vector<int32_t> drawn;
  for (int i = 0; i < count; ++i) {
    std::vector<float> copy = logits;
    drawn.push_back(sampler->Sample(copy, history));
  }
  return drawn;
}

std::map<int32_t, int> Histogram(const SamplerOptions& options, const std::vector<float>& logits,
                                 int count, std::vector<int32_t> history = {}) {
  std::map<int32_t, int> histogram;
  for (int32_t token : Draw(options, logits, count, std::move(history))) ++histogram[token];
  return histogram;
}

int32_t Greedy(SamplerOptions options, const std::vector<float>& logits,
               std::vector<int32_t> history = {}) {
  options.temperature = 0;
  return Draw(options, logits, 1, std::move(history))[0];
}

TEST(SamplerTest, GreedyTakesTheLargestAndTheLowestIdOnATie) {
  EXPECT_EQ(Greedy(Plain(), {1, 3, 2}), 1);
  EXPECT_EQ(Greedy(Plain(), {1, 3, 3, 2}), 1);
  EXPECT_EQ(Greedy(Plain(), {-5, -1, -3}), 1);
}

TEST(SamplerTest, DrawsFollowTheSoftmax) {
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f, -1.0f};
  for (float temperature : {0.5f, 1.0f, 2.0f}) {
    constexpr int kDraws = 20000;
    const auto histogram = Histogram(Plain(temperature), logits, kDraws);
    double total = 0;
    for (float logit : logits) total += std::exp(logit / temperature);
    double chi_square = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      const double expected = kDraws * std::exp(logits[i] / temperature) / total;
      const auto found = histogram.find(static_cast<int32_t>(i));
      const double got = found == histogram.end() ? 0 : found->second;
      chi_square += (got - expected) * (got - expected) / expected;
    }
    EXPECT_LT(chi_square, 16.3) << "temperature " << temperature;  // p = 0.001 at 3 degrees
  }
}

TEST(SamplerTest, TheSameSeedDrawsTheSameTokensInEveryBuild) {
  const std::vector<float> logits = {0.1f, 0.9f, 0.4f, 1.3f, -0.7f, 0.0f, 2.0f, 1.1f};
  SamplerOptions options = Plain();
  options.seed = 7;
  EXPECT_EQ(Draw(options, logits, 16),
            (std::vector<int32_t>{3, 0, 7, 6, 5, 3, 5, 3, 1, 3, 1, 7, 7, 7, 7, 6}));
  options.temperature = 0.8f;
  options.top_k = 5;
  EXPECT_EQ(Draw(options, logits, 16),
            (std::vector<int32_t>{6, 6, 1, 3, 6, 6, 6, 6, 6, 6, 6, 2, 1, 1, 1, 3}));
  options.top_k = 0;
  options.top_p = 0.9f;
  EXPECT_EQ(Draw(options, logits, 16),
            (std::vector<int32_t>{3, 2, 6, 6, 3, 7, 3, 7, 1, 3, 1, 6, 6, 6, 6, 6}));
  options.top_k = 6;
  options.min_p = 0.2f;
  options.seed = uint64_t{1} << 53;
  EXPECT_EQ(Draw(options, logits, 16),
            (std::vector<int32_t>{6, 7, 6, 6, 3, 6, 3, 3, 7, 1, 6, 6, 6, 6, 6, 6}));
}

// Whose order among many nearly equal ones a standard library's heap could leave open.
TEST(SamplerTest, AThousandCandidatesAreDrawnTheSameInEveryBuild) {
  std::vector<float> logits(1000);
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(i * 7919 % 1009) / 128;
  }
  EXPECT_EQ(Draw(SamplerOptions(), logits, 12),
            (std::vector<int32_t>{33, 165, 53, 765, 785, 198, 508, 66, 231, 521, 686, 66}));
  SamplerOptions options;
  options.top_k = 0;
  options.min_p = 0;
  EXPECT_EQ(Draw(options, logits, 12),
            (std::vector<int32_t>{99, 904, 681, 277, 87, 614, 799, 963, 568, 798, 970, 475}));
}

TEST(SamplerTest, SeedsDrawDifferently) {
  const std::vector<float> logits(50, 0.0f);
  SamplerOptions options = Plain();
  const std::vector<int32_t> zero = Draw(options, logits, 16);
  options.seed = 1;
  const std::vector<int32_t> one = Draw(options, logits, 16);
  options.seed = uint64_t{1} << 32;
  EXPECT_NE(zero, one);
  EXPECT_NE(zero, Draw(options, logits, 16)) << "the high half of a seed counts";
}

TEST(SamplerTest, TopKFindsTheLikeliestOfAWholeVocabulary) {
  std::mt19937 random(5);
  std::vector<float> logits(5000);
  for (float& logit : logits) logit = static_cast<float>(random() % 300);  // with many ties
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  for (int32_t top_k : {1, 2, 7, 40}) {
    SamplerOptions options = Plain(1000.0f);  // nearly uniform among those kept
    options.top_k = top_k;
    std::vector<int32_t> drawn;
    for (const auto& [token, count] : Histogram(options, logits, 60 * top_k)) {
      drawn.push_back(token);
    }
    std::vector<int32_t> expected(order.begin(), order.begin() + top_k);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(drawn, expected) << "top-k " << top_k;
  }
}

TEST(SamplerTest, TopPIsAShareOfWhatTopKKept) {
  // 0.4, 0.3, 0.2, 0.1; the two that top-k keeps are 4/7 and 3/7 of their sum.
  const std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f),
                                     std::log(0.1f)};
  SamplerOptions options = Plain();
  options.top_p = 0.5f;
  EXPECT_EQ(Histogram(options, logits, 500).size(), 2u);
  options.top_k = 2;
  EXPECT_EQ(Histogram(options, logits, 500).size(), 1u);
}

TEST(SamplerTest, TopPIsAShareOfWhatMinPWouldDropToo) {
  // Of 0.4, 0.3 and three of 0.1, min-p drops the last three; 0.4 is less than
  // 0.55 of all, though more than that of what remains.
  std::vector<float> logits = {std::log(0.4f), std::log(0.3f)};
  logits.insert(logits.end(), 3, std::log(0.1f));
  SamplerOptions options = Plain();
  options.min_p = 0.5f;
  options.top_p = 0.55f;
  EXPECT_EQ(Histogram(options, logits, 500).size(), 2u);
}

TEST(SamplerTest, TopPAndMinPSeeTheTemperature) {
  const std::vector<float> logits = {2.0f, 0.0f};  // e^-2 = 0.135 of the likeliest
  SamplerOptions options = Plain(1.0f);
  options.min_p = 0.2f;
  EXPECT_EQ(Histogram(options, logits, 500).size(), 1u);
  options.temperature = 2.0f;  // e^-1 = 0.368
  EXPECT_EQ(Histogram(options, logits, 500).size(), 2u);
  options = Plain(1.0f);
  options.top_p = 0.8f;  // 0.88 and 0.12; at temperature 2: 0.73 and 0.27
  EXPECT_EQ(Histogram(options, logits, 500).size(), 1u);
  options.temperature = 2.0f;
  EXPECT_EQ(Histogram(options, logits, 500).size(), 2u);
}

TEST(SamplerTest, LogitsWithoutAFiniteOneStillGiveAnId) {
  EXPECT_EQ(Draw(Plain(), {-kInfinity, -kInfinity}, 1)[0], 0);
}

TEST(SamplerTest, HistoryOutsideTheVocabularyIsIgnored) {
  SamplerOptions options = Plain();
  options.presence_penalty = 5.0f;
  EXPECT_EQ(Greedy(options, {1, 2}, {-1, 2, 1 << 30, 1}), 0);
}

TEST(SamplerTest, PenaltiesOfOneTokenAreForgottenByTheNext) {
  SamplerOptions options = Plain(0.0f);
  options.frequency_penalty = 1.0f;
  Result<Sampler> sampler = Sampler::Create(options, 2);
  ASSERT_TRUE(sampler.ok());
  for (int i = 0; i < 3; ++i) {
    std::vector<float> logits = {3.5f, 1.0f};
    const std::vector<int32_t> history = {0, 0};
    EXPECT_EQ(sampler->Sample(logits, history), 0);
  }
}

TEST(SamplerTest, TopKKeepsTheLikeliest) {
  SamplerOptions options = Plain(10.0f);
  options.top_k = 2;
  const auto histogram = Histogram(options, {1, 4, 2, 3}, 500);
  EXPECT_EQ(histogram.size(), 2u);
  EXPECT_TRUE(histogram.contains(1) && histogram.contains(3));
  options.top_k = 100;
  EXPECT_EQ(Histogram(options, {1, 4, 2, 3}, 500).size(), 4u);
}

TEST(SamplerTest, TopPKeepsTheFewestThatReachTheShare) {
  // Probabilities 0.5, 0.3, 0.15, 0.05.
  const std::vector<float> logits = {std::log(0.15f), std::log(0.5f), std::log(0.05f),
                                     std::log(0.3f)};
  SamplerOptions options = Plain();
  const auto kept = [&](float top_p) {
    options.top_p = top_p;
    return Histogram(options, logits, 2000).size();
  };
  EXPECT_EQ(kept(0.001f), 1u);
  EXPECT_EQ(kept(0.49f), 1u);
  EXPECT_EQ(kept(0.51f), 2u);
  EXPECT_EQ(kept(0.79f), 2u);
  EXPECT_EQ(kept(0.81f), 3u);
  EXPECT_EQ(kept(1.0f), 4u);
}

TEST(SamplerTest, MinPDropsWhatIsFarBelowTheLikeliest) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.26f), std::log(0.24f)};
  SamplerOptions options = Plain();
  options.min_p = 0.5f;
  EXPECT_EQ(Histogram(options, logits, 1000).size(), 2u);
  options.min_p = 1.0f;
  EXPECT_EQ(Histogram(options, logits, 1000).size(), 1u);
}

TEST(SamplerTest, RepetitionPenaltyPushesPositiveAndNegativeLogitsDown) {
  SamplerOptions options = Plain();
  options.repetition_penalty = 2.0f;
  EXPECT_EQ(Greedy(options, {3, 2}, {0}), 1);       // 3 / 2 < 2
  EXPECT_EQ(Greedy(options, {-1, -1.5f}, {0}), 1);  // -1 * 2 < -1.5
  EXPECT_EQ(Greedy(options, {3, 2}, {0, 0, 0}), 1);
  EXPECT_EQ(Greedy(options, {5, 2}, {0, 0, 0}), 0) << "it counts once, however often";
}

TEST(SamplerTest, FrequencyPenaltyCountsAndPresencePenaltyDoesNot) {
  SamplerOptions frequency = Plain();
  frequency.frequency_penalty = 0.5f;
  EXPECT_EQ(Greedy(frequency, {3, 2}, {0, 0}), 0);     // 3 - 1 = 2, a tie
  EXPECT_EQ(Greedy(frequency, {3, 2}, {0, 0, 0}), 1);  // 3 - 1.5 < 2
  SamplerOptions presence = Plain();
  presence.presence_penalty = 0.9f;
  EXPECT_EQ(Greedy(presence, {3, 2}, {0, 0, 0}), 0);
  presence.presence_penalty = 1.1f;
  EXPECT_EQ(Greedy(presence, {3, 2}, {0}), 1);
}

TEST(SamplerTest, ThePenaltyWindowForgetsOldTokens) {
  SamplerOptions options = Plain();
  options.presence_penalty = 2.0f;
  options.penalty_window = 2;
  EXPECT_EQ(Greedy(options, {3, 2, 0}, {0, 2, 2}), 0);
  EXPECT_EQ(Greedy(options, {3, 2, 0}, {2, 0, 2}), 1);
  options.penalty_window = 0;
  EXPECT_EQ(Greedy(options, {3, 2, 0}, {0, 0, 0}), 0);
  options.penalty_window = -1;
  EXPECT_EQ(Greedy(options, {3, 2, 0}, {0, 2, 2, 2, 2, 2}), 1);
}

TEST(SamplerTest, BiasAddsAndForbids) {
  SamplerOptions options = Plain();
  options.logit_bias = {{1, 2.0f}};
  EXPECT_EQ(Greedy(options, {3, 2, 0}), 1);
  options.logit_bias = {{0, -kInfinity}};
  EXPECT_FALSE(Histogram(options, {30, 2, 0}, 200).contains(0));
}

TEST(SamplerTest, BiasComesBeforeThePenalties) {
  SamplerOptions options = Plain();
  options.logit_bias = {{0, 4.0f}};
  options.repetition_penalty = 2.0f;
  EXPECT_EQ(Greedy(options, {1, 2.6f}, {0}), 1);  // (1 + 4) / 2 = 2.5; 1 / 2 + 4 would win
}

TEST(SamplerTest, NonFiniteLogitsAreNeverDrawnWhileAFiniteOneExists) {
  const std::vector<float> logits = {kNan, kInfinity, -kInfinity, 0.0f, kNan};
  EXPECT_EQ(Greedy(Plain(), logits), 3);
  EXPECT_EQ(Histogram(Plain(), logits, 50).size(), 1u);
  EXPECT_EQ(Greedy(Plain(), {kNan, -kInfinity}), 0);
  EXPECT_EQ(Draw(Plain(), {kNan, kNan}, 1)[0], 0);
}

TEST(SamplerTest, HugeGapsAndTinyTemperaturesStayFinite) {
  EXPECT_EQ(Histogram(Plain(1e-6f), {0, 1, 2}, 100).size(), 1u);
  EXPECT_EQ(Histogram(Plain(), {-3e38f, 3e38f}, 100).size(), 1u);
}

TEST(SamplerTest, OptionsOutOfRangeAreNamed) {
  const auto expect = [](const std::string& name, auto change) {
    SamplerOptions options;
    change(options);
    const Result<Sampler> sampler = Sampler::Create(options, 10);
    ASSERT_FALSE(sampler.ok()) << name;
    EXPECT_EQ(sampler.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(sampler.status().message().find(name), std::string::npos)
        << sampler.status().message();
  };
  for (float bad : {-0.1f, kNan, kInfinity}) {
    expect("temperature", [&](SamplerOptions& o) { o.temperature = bad; });
  }
  expect("topK", [](SamplerOptions& o) { o.top_k = -1; });
  for (float bad : {0.0f, 1.1f, kNan}) {
    expect("topP", [&](SamplerOptions& o) { o.top_p = bad; });
  }
  for (float bad : {-0.1f, 1.1f, kNan}) {
    expect("minP", [&](SamplerOptions& o) { o.min_p = bad; });
  }
  for (float bad : {0.0f, -1.0f, kNan, kInfinity}) {
    expect("repetitionPenalty", [&](SamplerOptions& o) { o.repetition_penalty = bad; });
  }
  expect("frequencyPenalty", [](SamplerOptions& o) { o.frequency_penalty = kNan; });
  expect("presencePenalty", [](SamplerOptions& o) { o.presence_penalty = kInfinity; });
  expect("penaltyWindow", [](SamplerOptions& o) { o.penalty_window = -2; });
  expect("logitBias", [](SamplerOptions& o) { o.logit_bias = {{10, 1.0f}}; });
  expect("logitBias", [](SamplerOptions& o) { o.logit_bias = {{-1, 1.0f}}; });
  expect("logitBias", [](SamplerOptions& o) { o.logit_bias = {{1, kNan}}; });
}

TEST(SamplerTest, ForbiddingEveryTokenIsRefused) {
  SamplerOptions options;
  for (int32_t token = 0; token < 3; ++token) {
    options.logit_bias.emplace_back(token, -std::numeric_limits<float>::infinity());
    options.logit_bias.emplace_back(token, -std::numeric_limits<float>::infinity());
  }
  EXPECT_EQ(Sampler::Create(options, 3).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Sampler::Create(options, 4).ok());
}

}  // namespace
}  // namespace kvasir
