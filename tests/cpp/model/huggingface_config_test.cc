// What config.json says, beyond the golden models' (folder_golden_test.cc).
#include "model/huggingface_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "model/config.h"
#include "model/huggingface_tensors.h"

namespace kvasir {
namespace {

const std::string kSizes =
    R"("hidden_size":64,"num_hidden_layers":2,"intermediate_size":96,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"max_position_embeddings":8192,)";

struct Translated {
  HuggingFaceModel model;
  ModelConfig config;
};

Result<Translated> Translate(const std::string& json) {
  const Result<JsonDocument> document = JsonDocument::Parse(json, "config.json");
  if (!document.ok()) return document.status();
  MetadataBuilder builder;
  Result<HuggingFaceModel> model = TranslateConfig(document->root(), builder);
  if (!model.ok()) return model.status();
  const Metadata metadata = builder.Build();
  Result<ModelConfig> config = ReadModelConfig(metadata);
  if (!config.ok()) return config.status();
  return Translated{*std::move(model), *std::move(config)};
}

Translated Good(const std::string& json) {
  Result<Translated> translated = Translate(json);
  EXPECT_TRUE(translated.ok()) << translated.status().message();
  return translated.ok() ? *std::move(translated) : Translated();
}

std::string Of(const std::string& type, const std::string& more) {
  return "{\"model_type\":\"" + type + "\"," + kSizes + more + "\"x\":0}";
}

TEST(HuggingFaceConfigTest, Llama3ScalingIsDivisorsOfWaves) {
  // 0: `rope_scaling` beside rope_theta; 1: the rope_parameters of newer files.
  const std::string scaling =
      R"("rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
      R"("original_max_position_embeddings":1024)";
  for (const std::string& more :
       {R"("rope_theta":500000.0,"rope_scaling":{)" + scaling + "},",
        R"("rope_parameters":{"rope_theta":500000.0,)" + scaling + "},"}) {
    const Translated translated = Good(Of("llama", more));
    EXPECT_EQ(translated.config.rope.theta, 500000.0);
    EXPECT_EQ(translated.config.rope.scaling, RopeScaling::kNone);
    EXPECT_EQ(translated.config.rope_pairs, RopePairs::kHalves);
    const std::vector<float>& divisors = translated.model.rope_divisors.at("rope_freqs.weight");
    ASSERT_EQ(divisors.size(), 8u);
    for (size_t j = 0; j < divisors.size(); ++j) {
      const double wave =
          2 * std::numbers::pi * std::pow(500000.0, 2 * static_cast<double>(j) / 16);
      double expected = 1;
      if (wave > 1024) expected = 8;
      if (wave >= 256 && wave <= 1024) {
        const double keep = (1024 / wave - 1) / 3;
        expected = 1 / ((1 - keep) / 8 + keep);
      }
      EXPECT_NEAR(divisors[j], expected, 1e-5) << j;
    }
  }
}

TEST(HuggingFaceConfigTest, YarnIsReadWithItsAttentionFactor) {
  const Translated plain = Good(Of(
      "qwen2",
      R"("rope_scaling":{"type":"yarn","factor":4.0,"original_max_position_embeddings":2048},)"));
  EXPECT_EQ(plain.config.rope.scaling, RopeScaling::kYarn);
  EXPECT_EQ(plain.config.rope.factor, 4.0);
  EXPECT_EQ(plain.config.rope.original_context_length, 2048);
  EXPECT_NEAR(plain.config.rope.attention_factor, 1.0, 1e-12);
  const Translated given =
      Good(Of("qwen2", R"("rope_scaling":{"type":"yarn","factor":4.0,"attention_factor":1.5},)"));
  EXPECT_NEAR(given.config.rope.attention_factor * (1 + 0.1 * std::log(4.0)), 1.5, 1e-12);
}

TEST(HuggingFaceConfigTest, AWindowThatLayersDoNotSlideOverHereLimitsTheContext) {
  EXPECT_EQ(Good(Of("mistral", "\"sliding_window\":4096,")).config.context_length, 4096);
  EXPECT_EQ(Good(Of("mistral", "\"sliding_window\":null,")).config.context_length, 8192);
  const std::string unused = "\"sliding_window\":4096,\"use_sliding_window\":false,";
  EXPECT_EQ(Good(Of("qwen2", unused)).config.context_length, 8192);
  EXPECT_EQ(Good(Of("phi3", "\"sliding_window\":2047,")).config.sliding_window, 2047);
}

TEST(HuggingFaceConfigTest, GemmasLeaveOutWhatIsStandard) {
  const Translated gemma =
      Good(R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":2560,)"
           R"("intermediate_size":10240,"num_hidden_layers":34,"sliding_window":1024,)"
           R"("rope_scaling":{"rope_type":"linear","factor":8.0}},"vision_config":{}})");
  EXPECT_EQ(gemma.config.architecture, "gemma3");
  EXPECT_EQ(gemma.config.heads, 8);
  EXPECT_EQ(gemma.config.kv_heads, 4);
  EXPECT_EQ(gemma.config.head_dim, 256);
  EXPECT_EQ(gemma.config.context_length, 131072);
  EXPECT_EQ(gemma.config.rope.theta, 1e6);
  EXPECT_EQ(gemma.config.rope.factor, 8.0);
  EXPECT_EQ(gemma.config.rope.dims, 256);
  ASSERT_TRUE(gemma.config.sliding_rope.has_value());
  EXPECT_EQ(gemma.config.sliding_rope->theta, 10000.0);
  EXPECT_EQ(gemma.config.sliding_period, 6);
  EXPECT_TRUE(gemma.model.tied);
  EXPECT_EQ(gemma.model.norm_offset, 1.0f);
}

TEST(HuggingFaceConfigTest, WhatIsComputedOtherwiseIsRefusedByName) {
  const auto expect = [](const std::string& json, const std::string& named) {
    const Result<Translated> translated = Translate(json);
    ASSERT_FALSE(translated.ok()) << json;
    EXPECT_EQ(translated.status().code(), ErrorCode::kUnsupportedModel) << json;
    EXPECT_NE(translated.status().message().find(named), std::string::npos)
        << translated.status().message();
  };
  expect(R"({"model_type":"mamba"})", "\"mamba\"");
  expect(R"({"model_type":"mamba"})", "qwen3_moe");
  expect(Of("llama", "\"hidden_act\":\"relu\","), "hidden_act");
  expect(Of("llama", "\"quantization_config\":{\"quant_method\":\"gptq\"},"),
         "quantization_config");
  expect(Of("llama", "\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2},"), "dynamic");
  expect(Of("qwen3_moe", "\"num_experts\":4,\"num_experts_per_tok\":2,"), "norm_topk_prob");
  expect(Of("smollm3", "\"no_rope_layers\":[1,0],"), "no_rope_layers");
  expect(Of("gemma2",
            "\"layer_types\":[\"sliding_attention\",\"sliding_attention\",\"full_attention\","
            "\"full_attention\"],"),
         "layer_types");
}

TEST(HuggingFaceConfigTest, WhatIsMissingOrOfAnotherKindIsNamed) {
  const auto expect = [](const std::string& json, const std::string& named) {
    const Result<Translated> translated = Translate(json);
    ASSERT_FALSE(translated.ok()) << json;
    EXPECT_EQ(translated.status().code(), ErrorCode::kMalformedFile) << json;
    EXPECT_NE(translated.status().message().find(named), std::string::npos)
        << translated.status().message();
  };
  expect(R"({"model_type":"llama"})", "hidden_size");
  expect(Of("llama", "\"rms_norm_eps\":\"small\","), "rms_norm_eps");
  expect(Of("llama", "\"head_dim\":0,"), "head_dim");
  expect(Of("llama", "\"rope_theta\":-1,"), "rope_theta");
  expect(Of("phi3",
            "\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[1],\"long_factor\":[1]},"),
         "_factor");
  expect("[]", "config.json");
}

TEST(HuggingFaceTensorsTest, NamesThatAreNotKnownStayAndOtherModelsAreLeftOut) {
  EXPECT_EQ(TranslateTensorName("model.layers.3.self_attn.strange.weight", "llama"),
            "model.layers.3.self_attn.strange.weight");
  EXPECT_EQ(TranslateTensorName("model.layers.x.mlp.up_proj.weight", "llama"),
            "model.layers.x.mlp.up_proj.weight");
  EXPECT_EQ(TranslateTensorName("language_model.model.layers.12.mlp.up_proj.weight", "gemma3"),
            "blk.12.ffn_up.weight");
  EXPECT_EQ(TranslateTensorName("model.language_model.embed_tokens.weight", "gemma3"),
            "token_embd.weight");
  EXPECT_EQ(TranslateTensorName("vision_tower.a.weight", "gemma3"), std::nullopt);
  EXPECT_EQ(TranslateTensorName("model.layers.0.self_attn.rotary_emb.inv_freq", "llama"),
            std::nullopt);
}

}  // namespace
}  // namespace kvasir
