// A small random Llama, for tests that need a model but no file.
#ifndef KVASIR_TESTS_CPP_MODEL_TEST_MODEL_H_
#define KVASIR_TESTS_CPP_MODEL_TEST_MODEL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/gguf_reader.h"
#include "model/config.h"
#include "model/weights_builder.h"

namespace kvasir {

inline ModelConfig SmallConfig() {
  ModelConfig config;
  config.architecture = "llama";
  config.vocab_size = 50;
  config.context_length = 256;
  config.dim = 24;
  config.layers = 2;
  config.heads = 6;
  config.kv_heads = 2;
  config.head_dim = 4;
  config.ffn_dim = 36;
  config.rope.dims = 4;
  config.rope.original_context_length = 256;
  return config;
}

inline TensorInfo Info(const std::string& name, int64_t cols, int64_t rows) {
  TensorInfo info;
  info.name = name;
  info.type = TensorType::kF32;
  info.dimensions = rows == 1 ? 1 : 2;
  info.shape = {cols, rows, 1, 1};
  info.offset = 0;
  info.bytes = static_cast<uint64_t>(cols * rows) * sizeof(float);
  return info;
}

// The tensors that a file of `config` has to have.
inline std::vector<TensorInfo> RequiredTensors(const ModelConfig& config) {
  std::vector<TensorInfo> tensors = {Info("token_embd.weight", config.dim, config.vocab_size),
                                     Info("output_norm.weight", config.dim, 1)};
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    tensors.push_back(Info(prefix + "attn_norm.weight", config.dim, 1));
    tensors.push_back(Info(prefix + "attn_q.weight", config.dim, config.q_dim()));
    tensors.push_back(Info(prefix + "attn_k.weight", config.dim, config.kv_dim()));
    tensors.push_back(Info(prefix + "attn_v.weight", config.dim, config.kv_dim()));
    tensors.push_back(Info(prefix + "attn_output.weight", config.q_dim(), config.dim));
    tensors.push_back(Info(prefix + "ffn_norm.weight", config.dim, 1));
    tensors.push_back(Info(prefix + "ffn_gate.weight", config.dim, config.ffn_dim));
    tensors.push_back(Info(prefix + "ffn_up.weight", config.dim, config.ffn_dim));
    tensors.push_back(Info(prefix + "ffn_down.weight", config.ffn_dim, config.dim));
  }
  return tensors;
}

// Gives `builder` a tensor of random values, as a file would.
inline Status AddRandom(WeightsBuilder& builder, const TensorInfo& info, std::mt19937& random) {
  Result<std::span<uint8_t>> memory = builder.Begin(info);
  if (!memory.ok()) return memory.status();
  std::normal_distribution<float> normal(0.0f, info.shape[1] == 1 ? 1.0f : 0.4f);
  for (size_t i = 0; i < memory->size(); i += sizeof(float)) {
    const float value = normal(random);
    std::memcpy(memory->data() + i, &value, sizeof(value));
  }
  return builder.End(info);
}

inline Weights RandomWeights(const ModelConfig& config, uint32_t seed) {
  std::mt19937 random(seed);
  WeightsBuilder builder(config);
  for (const TensorInfo& info : RequiredTensors(config)) {
    const Status status = AddRandom(builder, info, random);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Result<Weights> weights = builder.Finish();
  EXPECT_TRUE(weights.ok()) << weights.status().message();
  return *std::move(weights);
}

inline std::vector<int32_t> RandomTokens(int64_t count, int64_t vocab_size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random() % static_cast<uint64_t>(vocab_size));
  }
  return tokens;
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_MODEL_TEST_MODEL_H_
