#include "model/config.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../format/collector.h"
#include "../format/gguf_writer.h"
#include "format/gguf_reader.h"

namespace kvasir {
namespace {

// The keys of a small model; a test adds to them or replaces one.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    Number("context_length", 2048);
    Number("embedding_length", 128);
    Number("block_count", 4);
    Number("feed_forward_length", 176);
    Number("attention.head_count", 8);
  }

  void Number(const std::string& name, uint32_t value) {
    Remove(name);
    writer_.Key<uint32_t>("llama." + name, ValueType::kUint32, value);
    names_.push_back(name);
  }
  void Real(const std::string& name, float value) {
    Remove(name);
    writer_.Key<float>("llama." + name, ValueType::kFloat32, value);
    names_.push_back(name);
  }
  void Text(const std::string& name, const std::string& value) {
    Remove(name);
    writer_.StringKey("llama." + name, value);
    names_.push_back(name);
  }
  void Remove(const std::string& name) {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] != name) continue;
      names_.erase(names_.begin() + static_cast<ptrdiff_t>(i));
      writer_.keys.erase(writer_.keys.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }

  Result<ModelConfig> Read() const {
    GgufWriter writer = writer_;
    writer.StringKey("general.architecture", architecture_);
    const std::vector<uint8_t> bytes = writer.Write();
    Collector sink;
    GgufReader reader({bytes.size()}, sink);
    const Status status = reader.Append(bytes);
    if (!status.ok()) return status;
    return ReadModelConfig(reader.metadata());
  }
  void ExpectError(ErrorCode code, const std::string& part_of_message) const {
    const Result<ModelConfig> config = Read();
    ASSERT_FALSE(config.ok()) << part_of_message;
    EXPECT_EQ(config.status().code(), code) << config.status().message();
    EXPECT_NE(config.status().message().find(part_of_message), std::string::npos)
        << config.status().message();
  }

  std::string architecture_ = "llama";
  GgufWriter writer_;
  std::vector<std::string> names_;  // of the keys in writer_, without "llama."
};

TEST_F(ConfigTest, WhatAFileLeavesOutFollowsFromTheRest) {
  const Result<ModelConfig> config = Read();
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->layers, 4);
  EXPECT_EQ(config->dim, 128);
  EXPECT_EQ(config->ffn_dim, 176);
  EXPECT_EQ(config->heads, 8);
  EXPECT_EQ(config->kv_heads, 8);
  EXPECT_EQ(config->head_dim, 16);
  EXPECT_EQ(config->rope.dims, 16);
  EXPECT_EQ(config->rope.theta, 10000.0);
  EXPECT_EQ(config->rope.scaling, RopeScaling::kNone);
  EXPECT_EQ(config->rope.attention_factor, 1.0);
}

TEST_F(ConfigTest, AHeadNeedNotBeAShareOfTheEmbedding) {
  Number("attention.key_length", 80);
  Number("attention.value_length", 80);
  Number("attention.head_count_kv", 2);
  Real("rope.freq_base", 500000.0f);
  Real("attention.layer_norm_rms_epsilon", 1e-6f);
  const Result<ModelConfig> config = Read();
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->head_dim, 80);
  EXPECT_EQ(config->q_dim(), 640);
  EXPECT_EQ(config->kv_dim(), 160);
  EXPECT_EQ(config->rope.theta, 500000.0);
  EXPECT_EQ(config->rms_norm_eps, 1e-6f);
}

TEST_F(ConfigTest, EveryKeyOfYarnIsRead) {
  Text("rope.scaling.type", "yarn");
  Real("rope.scaling.factor", 4.0f);
  Number("rope.scaling.original_context_length", 512);
  Real("rope.scaling.attn_factor", 0.5f);
  Real("rope.scaling.yarn_beta_fast", 16.0f);
  Real("rope.scaling.yarn_beta_slow", 2.0f);
  const Result<ModelConfig> config = Read();
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->rope.scaling, RopeScaling::kYarn);
  EXPECT_EQ(config->rope.factor, 4.0);
  EXPECT_EQ(config->rope.original_context_length, 512);
  EXPECT_EQ(config->rope.attention_factor, 0.5);
  EXPECT_EQ(config->rope.beta_fast, 16.0);
  EXPECT_EQ(config->rope.beta_slow, 2.0);
}

TEST_F(ConfigTest, AFactorWithoutATypeMeansLinearScaling) {
  Real("rope.scale_linear", 2.0f);
  EXPECT_EQ(Read()->rope.scaling, RopeScaling::kLinear);
  EXPECT_EQ(Read()->rope.factor, 2.0);
  Real("rope.scaling.factor", 4.0f);
  EXPECT_EQ(Read()->rope.scaling, RopeScaling::kLinear);
  EXPECT_EQ(Read()->rope.factor, 4.0);
  Text("rope.scaling.type", "none");
  EXPECT_EQ(Read()->rope.scaling, RopeScaling::kNone);
  Text("rope.scaling.type", "linear");
  EXPECT_EQ(Read()->rope.scaling, RopeScaling::kLinear);
}

TEST_F(ConfigTest, WhatThisBuildCannotRunIsNamed) {
  Text("rope.scaling.type", "longrope");
  ExpectError(ErrorCode::kUnsupportedModel, "longrope");
  Remove("rope.scaling.type");
  Number("attention.value_length", 32);
  ExpectError(ErrorCode::kUnsupportedModel, "value_length");
  architecture_ = "mamba";
  ExpectError(ErrorCode::kUnsupportedModel, "mamba");
}

TEST_F(ConfigTest, AMissingKeyIsNamed) {
  for (const std::string name : {"context_length", "embedding_length", "block_count",
                                 "feed_forward_length", "attention.head_count"}) {
    const GgufWriter whole = writer_;
    const std::vector<std::string> names = names_;
    Remove(name);
    ExpectError(ErrorCode::kMalformedFile, "llama." + name);
    writer_ = whole;
    names_ = names;
  }
}

TEST_F(ConfigTest, AnAbsurdNumberIsRefusedAndItsKeyNamed) {
  Number("block_count", 0);
  ExpectError(ErrorCode::kMalformedFile, "block_count");
  Number("block_count", UINT32_MAX);
  ExpectError(ErrorCode::kMalformedFile, "block_count");
  Text("block_count", "four");
  ExpectError(ErrorCode::kMalformedFile, "block_count");
  Number("block_count", 4);
  Number("attention.head_count_kv", 3);
  ExpectError(ErrorCode::kMalformedFile, "head_count_kv");
  Number("attention.head_count_kv", 2);
  Number("rope.dimension_count", 15);
  ExpectError(ErrorCode::kMalformedFile, "rope.dimension_count");
  Number("rope.dimension_count", 18);
  ExpectError(ErrorCode::kMalformedFile, "rope.dimension_count");
  Number("rope.dimension_count", 16);
  Real("rope.freq_base", -1.0f);
  ExpectError(ErrorCode::kMalformedFile, "rope.freq_base");
  Number("attention.head_count", 7);
  Remove("rope.freq_base");
  Number("attention.head_count_kv", 7);
  ExpectError(ErrorCode::kMalformedFile, "embedding_length");
}

}  // namespace
}  // namespace kvasir
