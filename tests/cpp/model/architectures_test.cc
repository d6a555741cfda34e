// Every architecture against its own class in transformers, from the metadata and
// the tensors that a file of it has. The vectors: tests/golden/README.md.
#include "model/architectures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "golden_file.h"
#include "golden_values.h"
#include "model/decoder.h"

namespace kvasir {
namespace {

class ArchitectureTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    file_ = ReadGoldenFile(GetParam());
    const Result<ModelConfig> config = ReadConfig(file_.keys);
    ASSERT_TRUE(config.ok()) << config.status().message();
    WeightsBuilder builder(*config);
    for (const TensorInfo& info : file_.tensors) {
      const Status status = AddTensor(builder, info, TensorValues(info));
      ASSERT_TRUE(status.ok()) << status.message();
    }
    Result<Weights> weights = builder.Finish();
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    weights_ = *std::move(weights);
    config_ = builder.config();
    expected_ = ReadFloats(std::string(GetParam()) + ".logits");
    ASSERT_EQ(expected_.size(), static_cast<size_t>(count() * config_.vocab_size));
  }

  int64_t count() const { return static_cast<int64_t>(file_.tokens.size()); }

  void Reset() {
    Result<KvCaches> caches =
        MakeKvCaches(config_, {.type = KvType::kF32, .capacity = count() + 3, .sliding = {}});
    ASSERT_TRUE(caches.ok()) << caches.status().message();
    caches_ = *std::move(caches);
    Result<DecoderWorkspace> workspace = DecoderWorkspace::Create(config_, count(), pool_.size());
    ASSERT_TRUE(workspace.ok()) << workspace.status().message();
    workspace_ = std::make_unique<DecoderWorkspace>(*std::move(workspace));
  }

  // Runs tokens [from, to) and compares their logits.
  void RunAndCompare(int64_t from, int64_t to) {
    const size_t vocab = static_cast<size_t>(config_.vocab_size);
    const auto tokens = std::span<const int32_t>(file_.tokens)
                            .subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
    std::vector<float> logits(tokens.size() * vocab);
    const Status status = Decoder(config_, weights_, pool_)
                              .Forward(tokens, from, caches_, *workspace_, LogitRows::kAll, logits);
    ASSERT_TRUE(status.ok()) << status.message();
    const float* expected = expected_.data() + static_cast<size_t>(from) * vocab;
    for (size_t i = 0; i < logits.size(); ++i) {
      largest_difference_ = std::max(largest_difference_, std::abs(logits[i] - expected[i]));
      ASSERT_NEAR(logits[i], expected[i], 1e-4f)
          << "row " << from + static_cast<int64_t>(i / vocab) << ", token " << i % vocab;
    }
  }

  GoldenFile file_;
  ModelConfig config_;
  Weights weights_;
  std::vector<float> expected_;
  float largest_difference_ = 0;
  ThreadPool pool_{2};
  KvCaches caches_;
  std::unique_ptr<DecoderWorkspace> workspace_;
};

TEST_P(ArchitectureTest, LogitsAgreeWithTransformersAfterAnyPrefill) {
  for (int64_t prefill : {int64_t{1}, int64_t{17}, int64_t{64}, count()}) {
    Reset();
    RunAndCompare(0, prefill);
    for (int64_t i = prefill; i < std::min(prefill + 16, count()); ++i) RunAndCompare(i, i + 1);
  }
  RecordProperty("largest_difference", std::to_string(largest_difference_));
}

INSTANTIATE_TEST_SUITE_P(Models, ArchitectureTest,
                         ::testing::Values("qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "granite",
                                           "smollm3", "phi3", "phi3-window", "phi3-short",
                                           "phi3-long", "mixtral", "qwen3moe"),
                         kNameOfModel);

}  // namespace
}  // namespace kvasir
