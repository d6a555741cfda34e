#include "model/weights_builder.h"

#include <gtest/gtest.h>

#include "test_model.h"

namespace kvasir {
namespace {

class WeightsBuilderTest : public ::testing::Test {
 protected:
  void ExpectRefused(const TensorInfo& info, ErrorCode code) {
    const Result<std::span<uint8_t>> memory = builder_.Begin(info);
    ASSERT_FALSE(memory.ok()) << info.name;
    EXPECT_EQ(memory.status().code(), code) << memory.status().message();
    EXPECT_NE(memory.status().message().find(info.name), std::string::npos)
        << "the message does not name the tensor: " << memory.status().message();
  }

  ModelConfig config_ = SmallConfig();
  WeightsBuilder builder_{config_};
};

TEST_F(WeightsBuilderTest, AMissingTensorIsNamed) {
  for (const TensorInfo& missing : RequiredTensors(config_)) {
    std::mt19937 random(1);
    WeightsBuilder builder(config_);
    for (const TensorInfo& info : RequiredTensors(config_)) {
      if (info.name == missing.name) continue;
      ASSERT_TRUE(AddRandom(builder, info, random).ok());
    }
    const Result<Weights> weights = builder.Finish();
    ASSERT_FALSE(weights.ok()) << missing.name;
    EXPECT_EQ(weights.status().code(), ErrorCode::kMalformedFile);
    EXPECT_NE(weights.status().message().find(missing.name), std::string::npos)
        << weights.status().message();
  }
}

TEST_F(WeightsBuilderTest, AWrongShapeIsRefused) {
  for (const TensorInfo& right : RequiredTensors(config_)) {
    if (right.name == "token_embd.weight") continue;  // its rows set the vocabulary
    TensorInfo wrong = right;
    wrong.shape[1] += 1;
    ExpectRefused(wrong, ErrorCode::kMalformedFile);
    wrong = right;
    wrong.shape[0] -= 1;
    ExpectRefused(wrong, ErrorCode::kMalformedFile);
    wrong = right;
    wrong.shape[2] = 2;
    ExpectRefused(wrong, ErrorCode::kMalformedFile);
  }
}

TEST_F(WeightsBuilderTest, AnUnknownTensorIsRefusedRatherThanIgnored) {
  ExpectRefused(Info("blk.0.attn_q_norm.weight", 4, 1), ErrorCode::kUnsupportedModel);
  ExpectRefused(Info("blk.x.attn_q.weight", 24, 24), ErrorCode::kUnsupportedModel);
  ExpectRefused(Info("blk.0attn_q.weight", 24, 24), ErrorCode::kUnsupportedModel);
  ExpectRefused(Info("mystery", 24, 24), ErrorCode::kUnsupportedModel);
}

TEST_F(WeightsBuilderTest, ALayerBeyondTheLastIsRefused) {
  ExpectRefused(Info("blk.2.attn_norm.weight", 24, 1), ErrorCode::kMalformedFile);
  ExpectRefused(Info("blk.9223372036854775807.attn_norm.weight", 24, 1), ErrorCode::kMalformedFile);
  ExpectRefused(Info("blk.99999999999999999999.attn_norm.weight", 24, 1),
                ErrorCode::kUnsupportedModel);
}

TEST_F(WeightsBuilderTest, RopeDivisorsMustBeAboveZero) {
  std::mt19937 random(1);
  for (const TensorInfo& info : RequiredTensors(config_)) {
    ASSERT_TRUE(AddRandom(builder_, info, random).ok());
  }
  const TensorInfo divisors = Info("rope_freqs.weight", 2, 1);
  const Result<std::span<uint8_t>> memory = builder_.Begin(divisors);
  ASSERT_TRUE(memory.ok());
  std::fill(memory->begin(), memory->end(), uint8_t{0});
  ASSERT_TRUE(builder_.End(divisors).ok());
  EXPECT_EQ(builder_.Finish().status().code(), ErrorCode::kMalformedFile);
}

TEST_F(WeightsBuilderTest, AnOutputHeadOfAnotherVocabularyIsRefused) {
  std::mt19937 random(1);
  ASSERT_TRUE(AddRandom(builder_, Info("token_embd.weight", 24, 40), random).ok());
  EXPECT_EQ(builder_.config().vocab_size, 40);
  ExpectRefused(Info("output.weight", 24, 41), ErrorCode::kMalformedFile);
}

TEST_F(WeightsBuilderTest, TheOutputHeadIsTheEmbeddingUnlessTheFileHasOne) {
  std::mt19937 random(1);
  const Weights tied = RandomWeights(config_, 1);
  EXPECT_EQ(&tied.output_head(), &tied.token_embedding);
  for (const TensorInfo& info : RequiredTensors(config_)) {
    ASSERT_TRUE(AddRandom(builder_, info, random).ok());
  }
  ASSERT_TRUE(AddRandom(builder_, Info("output.weight", 24, 50), random).ok());
  const Result<Weights> untied = builder_.Finish();
  ASSERT_TRUE(untied.ok());
  EXPECT_EQ(&untied->output_head(), &untied->output);
}

}  // namespace
}  // namespace kvasir
