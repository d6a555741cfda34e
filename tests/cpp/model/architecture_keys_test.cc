// The metadata of every architecture, whole and damaged, starting from the golden
// models' own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "golden_file.h"
#include "golden_values.h"
#include "model/architectures.h"

namespace kvasir {
namespace {

// Keys that a file must have, without the architecture's prefix.
const std::set<std::string> kAlways = {"context_length", "embedding_length", "block_count",
                                       "feed_forward_length", "attention.head_count"};
const std::map<std::string, std::set<std::string>> kAsWell = {
    {"qwen2", {}},
    {"qwen3", {}},
    {"gemma2", {"attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"}},
    {"gemma3", {"attention.sliding_window"}},
    {"olmo2", {}},
    {"granite", {"attention.scale", "embedding_scale", "residual_scale", "logit_scale"}},
    {"smollm3", {}},
    {"phi3-window", {}},
    {"phi3-long", {}},
    {"mixtral", {"expert_used_count"}},
    {"qwen3moe", {"expert_count", "expert_used_count", "expert_feed_forward_length"}},
};

class ArchitectureKeysTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Prefix() const {
    const auto name = std::find_if(keys_.begin(), keys_.end(), [](const GoldenKey& key) {
      return key.name == "general.architecture";
    });
    return name->value + ".";
  }
  bool Required(const std::string& name) const {
    const std::string bare = name.substr(Prefix().size());
    return kAlways.contains(bare) || kAsWell.at(GetParam()).contains(bare);
  }
  static void ExpectRefused(const std::vector<GoldenKey>& keys, const std::string& name) {
    const Result<ModelConfig> config = ReadConfig(keys);
    ASSERT_FALSE(config.ok()) << name;
    EXPECT_EQ(config.status().code(), ErrorCode::kMalformedFile) << config.status().message();
    EXPECT_NE(config.status().message().find(name), std::string::npos)
        << name << " is not named: " << config.status().message();
  }

  std::vector<GoldenKey> keys_ = ReadGoldenFile(GetParam()).keys;
};

TEST_P(ArchitectureKeysTest, AMissingKeyIsNamedWhereTheModelNeedsIt) {
  for (size_t i = 1; i < keys_.size(); ++i) {
    std::vector<GoldenKey> keys = keys_;
    keys.erase(keys.begin() + static_cast<ptrdiff_t>(i));
    if (keys_[i].name.ends_with("key_length")) continue;  // the values' length contradicts then
    if (Required(keys_[i].name)) {
      ExpectRefused(keys, keys_[i].name);
    } else {
      EXPECT_TRUE(ReadConfig(keys).ok()) << keys_[i].name;
    }
  }
}

TEST_P(ArchitectureKeysTest, AnAbsurdNumberIsRefusedAndItsKeyNamed) {
  for (size_t i = 1; i < keys_.size(); ++i) {
    if (keys_[i].type == "string") continue;
    std::vector<GoldenKey> keys = keys_;
    keys[i] = {keys_[i].name, "string", "four"};
    ExpectRefused(keys, keys_[i].name);
    keys[i] = {keys_[i].name, keys_[i].type, keys_[i].type == "u32" ? "4294967295" : "nan"};
    ExpectRefused(keys, keys_[i].name);
    const bool none = keys_[i].name == "phi3.attention.sliding_window" ||
                      keys_[i].name == "llama.expert_count";  // 0: there is none
    keys[i].value = "0";
    if (!none) ExpectRefused(keys, keys_[i].name);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ArchitectureKeysTest, ::testing::ValuesIn([] {
                           std::vector<const char*> names;
                           for (const auto& [name, _] : kAsWell) names.push_back(name.c_str());
                           return names;
                         }()),
                         kNameOfModel);

// The keys of a golden model, some of which a test changes or adds.
std::vector<GoldenKey> With(const std::string& model, const std::vector<GoldenKey>& changes) {
  std::vector<GoldenKey> keys = ReadGoldenFile(model).keys;
  for (const GoldenKey& change : changes) {
    std::erase_if(keys, [&](const GoldenKey& key) { return key.name == change.name; });
    keys.push_back(change);
  }
  return keys;
}

TEST(ArchitecturesTest, AnUnknownOneIsNamedBesideThoseThatWork) {
  const Result<ModelConfig> config =
      ReadConfig(With("qwen2", {{"general.architecture", "string", "mamba"}}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), ErrorCode::kUnsupportedModel);
  for (const std::string name : {"mamba", "llama", "qwen2", "qwen3", "gemma2", "gemma3", "olmo2",
                                 "granite", "smollm3", "phi3", "qwen3moe"}) {
    EXPECT_NE(config.status().message().find(name), std::string::npos) << name;
  }
}

TEST(ArchitecturesTest, GemmasLargestScalesScoresByTheShareOfAHead) {
  EXPECT_EQ(ReadConfig(With("gemma2", {}))->scale(), 1.0f / 16);
  const float share = std::sqrt(2.0f / 40);
  EXPECT_FLOAT_EQ(ReadConfig(With("gemma2", {{"gemma2.block_count", "u32", "46"}}))->scale(),
                  share);
  const auto stated = With(
      "gemma2", {{"gemma2.block_count", "u32", "46"}, {"gemma2.attention.scale", "f32", "0.5"}});
  EXPECT_EQ(ReadConfig(stated)->scale(), 0.5f);
  EXPECT_FLOAT_EQ(ReadConfig(With("gemma3", {{"gemma3.block_count", "u32", "62"}}))->scale(),
                  std::sqrt(4.0f / 44));
}

TEST(ArchitecturesTest, Gemma3SlidesInFiveOfSixLayersUnlessTheFileSaysOtherwise) {
  const Result<ModelConfig> usual = ReadConfig(With("gemma3", {}));
  ASSERT_TRUE(usual.ok());
  for (int64_t layer = 0; layer < 13; ++layer) {
    EXPECT_EQ(usual->Slides(layer), layer != 5 && layer != 11) << layer;
  }
  EXPECT_EQ(usual->rope.theta, 1e6);
  EXPECT_EQ(usual->rope.scaling, RopeScaling::kLinear);
  EXPECT_EQ(usual->sliding_rope->theta, 1e4);
  EXPECT_EQ(usual->sliding_rope->scaling, RopeScaling::kNone);
  const Result<ModelConfig> other =
      ReadConfig(With("gemma3", {{"gemma3.attention.sliding_window_pattern", "u32", "3"},
                                 {"gemma3.rope.freq_base_swa", "f32", "500"}}));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other->Slides(3));
  EXPECT_FALSE(other->Slides(2));
  EXPECT_EQ(other->sliding_rope->theta, 500);
}

TEST(ArchitecturesTest, AWindowInAModelThatIsKnownToHaveNoneIsRefused) {
  const Result<ModelConfig> config =
      ReadConfig(With("qwen3", {{"qwen3.attention.sliding_window", "u32", "64"}}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), ErrorCode::kUnsupportedModel);
  EXPECT_NE(config.status().message().find("qwen3.attention.sliding_window"), std::string::npos);
  const auto longer = With("qwen3", {{"qwen3.attention.sliding_window", "u32", "4096"}});
  EXPECT_TRUE(ReadConfig(longer).ok()) << "a window as long as the context hides nothing";
}

TEST(ArchitecturesTest, ExpertsInAnArchitectureWithoutThemAreRefused) {
  const Result<ModelConfig> config = ReadConfig(
      With("qwen3", {{"qwen3.expert_count", "u32", "8"}, {"qwen3.expert_used_count", "u32", "2"}}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), ErrorCode::kUnsupportedModel);
  EXPECT_NE(config.status().message().find("qwen3.expert_count"), std::string::npos);
}

TEST(ArchitecturesTest, ATokenCannotUseMoreExpertsThanThereAre) {
  EXPECT_EQ(ReadConfig(With("qwen3moe", {}))->experts_used, 3);
  const Result<ModelConfig> config =
      ReadConfig(With("qwen3moe", {{"qwen3moe.expert_used_count", "u32", "10"}}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), ErrorCode::kMalformedFile);
  EXPECT_NE(config.status().message().find("qwen3moe.expert_used_count"), std::string::npos);
}

TEST(ArchitecturesTest, LongRopeIsReadWhereTheArchitectureHasIt) {
  const auto stated = With("phi3-long", {{"phi3.rope.scaling.type", "string", "longrope"}});
  EXPECT_EQ(ReadConfig(stated)->rope.scaling, RopeScaling::kLong);
  const Result<ModelConfig> other =
      ReadConfig(With("qwen3", {{"qwen3.rope.scaling.type", "string", "longrope"}}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), ErrorCode::kUnsupportedModel);
}

}  // namespace
}  // namespace kvasir
