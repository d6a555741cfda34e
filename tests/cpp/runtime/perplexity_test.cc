// What packed weights cost in quality, beside what their type costs: next to nothing,
// since only the inputs of the products are rounded, to 8 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/session.h"
#include "shared_models.h"
#include "trained_model.h"

namespace kvasir {
namespace {

constexpr size_t kStories = 2;

// Texts of the kind that the model was trained on, but none of those.
std::vector<std::string> HeldOutStories() {
  const std::string all =
      ReadFile(std::string(KVASIR_SOURCE_DIR) + "/models/heldout.txt").value_or("");
  std::vector<std::string> stories;
  for (size_t begin = 0; begin < all.size() && stories.size() < kStories;) {
    const size_t end = std::min(all.find("\n---\n", begin), all.size());
    stories.push_back(all.substr(begin, end - begin));
    begin = end + 5;
  }
  return stories;
}

class PerplexityTest : public ::testing::TestWithParam<TensorType> {
 protected:
  void SetUp() override {
    const std::optional<std::string> file =
        ReadFile(std::string(KVASIR_SOURCE_DIR) + "/models/kvasir-stories.gguf");
    ASSERT_TRUE(file.has_value());
    trained_ = std::make_unique<TrainedModel>(*file);
    stories_ = HeldOutStories();
    ASSERT_EQ(stories_.size(), kStories);
  }

  // The natural logarithm of the perplexity of the stories, each read by itself.
  double LogPerplexity(const std::shared_ptr<const Model>& model) const {
    if (model == nullptr) return std::nan("");
    const std::unique_ptr<Session> session =
        *Session::Create(model, {.kv_type = KvType::kF32}, *Compute::Create(*model, 1));
    double total = 0;
    int64_t count = 0;
    for (const std::string& story : stories_) {
      const std::vector<TokenId> tokens = model->tokenizer().Encode(story, {});
      const Result<std::vector<float>> scores = session->LogProbabilities(tokens);
      EXPECT_TRUE(scores.ok()) << scores.status().message();
      if (!scores.ok()) return std::nan("");
      for (float score : *scores) total -= score;
      count += static_cast<int64_t>(scores->size());
    }
    EXPECT_GT(count, 400);
    return total / static_cast<double>(count);
  }

  std::unique_ptr<TrainedModel> trained_;
  std::vector<std::string> stories_;
};

// The figures are in results/runtime_test.json.
TEST_P(PerplexityTest, OfPackedWeightsIsThatOfTheirValuesWithinATenthOfAPercent) {
  const double packed = LogPerplexity(trained_->Wide(GetParam(), true));
  const double floats = LogPerplexity(trained_->Wide(GetParam(), false));
  RecordProperty("perplexity_of_values", std::to_string(std::exp(floats)));
  RecordProperty("percent_more_when_packed", std::to_string(100 * std::expm1(packed - floats)));
  EXPECT_LT(std::exp(floats), 1.32);  // 1.264 before the rounding
  EXPECT_NEAR(packed, floats, 0.001);
}

INSTANTIATE_TEST_SUITE_P(
    Types, PerplexityTest,
    ::testing::Values(TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ4_1, TensorType::kQ5_0,
                      TensorType::kQ5_1, TensorType::kQ2_K, TensorType::kQ3_K, TensorType::kQ4_K,
                      TensorType::kQ5_K, TensorType::kQ6_K, TensorType::kIQ3_S, TensorType::kIQ4_NL,
                      TensorType::kIQ4_XS, TensorType::kMXFP4, TensorType::kF16, TensorType::kBF16),
    [](const auto& info) { return std::string(FindTensorTypeTraits(info.param)->name); });

// Else the test above would measure another model than the trained one.
using WidenedModelTest = PerplexityTest;
TEST_F(WidenedModelTest, ComputesWhatTheTrainedOneDoes) {
  const double narrow = LogPerplexity(trained_->Narrow());
  EXPECT_LT(std::exp(narrow), 1.5);
  EXPECT_NEAR(LogPerplexity(trained_->Wide(TensorType::kF32, true)), narrow, 1e-5);
}

}  // namespace
}  // namespace kvasir
