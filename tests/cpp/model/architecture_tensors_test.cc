// The tensors of every architecture, whole and damaged: those of the golden
// models.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "golden_file.h"
#include "golden_values.h"
#include "model/weights_builder.h"

namespace kvasir {
namespace {

class ArchitectureTensorsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Result<ModelConfig> config = ReadConfig(file_.keys);
    ASSERT_TRUE(config.ok()) << config.status().message();
    config_ = *config;
  }
  // The tensors outside the layers and those of one layer.
  static bool Chosen(const std::string& name) {
    return !name.starts_with("blk.") || name.starts_with("blk.1.");
  }
  static void ExpectNamed(const Status& status, ErrorCode code, const std::string& name) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(name), std::string::npos)
        << name << " is not named: " << status.message();
  }

  GoldenFile file_ = ReadGoldenFile(GetParam());
  ModelConfig config_;
};

TEST_P(ArchitectureTensorsTest, AMissingTensorIsNamed) {
  for (const TensorInfo& missing : file_.tensors) {
    if (!Chosen(missing.name) || missing.name == "output.weight") continue;
    WeightsBuilder builder(config_);
    for (const TensorInfo& info : file_.tensors) {
      if (info.name == missing.name) continue;
      const std::vector<float> ones(static_cast<size_t>(info.elements()), 1.0f);
      ASSERT_TRUE(AddTensor(builder, info, ones).ok()) << info.name;
    }
    const Result<Weights> weights = builder.Finish();
    ASSERT_FALSE(weights.ok()) << missing.name;
    ExpectNamed(weights.status(), ErrorCode::kMalformedFile, missing.name);
  }
}

TEST_P(ArchitectureTensorsTest, AWrongShapeIsRefused) {
  WeightsBuilder builder(config_);
  for (const TensorInfo& right : file_.tensors) {
    if (!Chosen(right.name)) continue;
    for (size_t dimension = 0; dimension < 4; ++dimension) {
      if (right.name == "token_embd.weight" && dimension == 1) continue;  // sets the vocabulary
      if (right.name == "output.weight" && dimension == 1) continue;
      TensorInfo wrong = right;
      wrong.shape[dimension] += 1;
      const Result<std::span<uint8_t>> memory = builder.Begin(wrong);
      ASSERT_FALSE(memory.ok()) << right.name << ", dimension " << dimension;
      ExpectNamed(memory.status(), ErrorCode::kMalformedFile, right.name);
    }
  }
}

TEST_P(ArchitectureTensorsTest, ATensorOfAnotherArchitectureIsRefused) {
  std::set<std::string> own;
  for (const TensorInfo& info : file_.tensors) own.insert(info.name);
  WeightsBuilder builder(config_);
  for (const char* other : {"gemma3", "phi3-long", "qwen3moe"}) {
    for (const TensorInfo& info : ReadGoldenFile(other).tensors) {
      if (!info.name.starts_with("blk.0.") && !info.name.starts_with("rope_factors")) continue;
      // Phi-3 may have factors, whether this model has them or not.
      const bool optional = config_.architecture == "phi3" && info.name.starts_with("rope_factors");
      if (own.contains(info.name) || optional) continue;
      const Result<std::span<uint8_t>> memory = builder.Begin(info);
      ASSERT_FALSE(memory.ok()) << info.name;
      ExpectNamed(memory.status(), ErrorCode::kUnsupportedModel, info.name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ArchitectureTensorsTest,
                         ::testing::Values("qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "granite",
                                           "smollm3", "phi3", "phi3-long", "mixtral", "qwen3moe"),
                         kNameOfModel);

}  // namespace
}  // namespace kvasir
