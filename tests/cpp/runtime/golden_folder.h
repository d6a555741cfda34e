// The golden architectures as the folders that transformers saves.
#ifndef KVASIR_TESTS_CPP_RUNTIME_GOLDEN_FOLDER_H_
#define KVASIR_TESTS_CPP_RUNTIME_GOLDEN_FOLDER_H_

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/golden_file.h"
#include "model/golden_values.h"
#include "runtime/safetensors_files.h"
#include "shared_models.h"

namespace kvasir {

class GoldenFolder {
 public:
  explicit GoldenFolder(const std::string& name) : file(ReadGoldenFile(name)) {
    config = ReadGolden(name + ".config.json").value_or("");
    architecture_ = file.keys.at(0).value;
    const bool adjacent =
        architecture_ == "llama" || architecture_ == "granite" || architecture_ == "smollm3";
    heads_ = adjacent ? Number("attention.head_count") : 0;
    kv_heads_ = adjacent ? Number("attention.head_count_kv") : 0;
    std::istringstream lines(ReadGolden(name + ".tensors.txt").value_or(""));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      SafetensorsEntry entry;
      entry.dtype = "F32";
      words >> entry.name;
      for (int64_t size; words >> size;) entry.shape.push_back(size);
      entry.bytes = FloatBytes(Values(entry.name));
      entries.push_back(std::move(entry));
    }
  }

  std::vector<FolderFile> Files() const {
    return {{"config.json", config},
            {"tokenizer.json", "{}"},
            {"model.safetensors", WriteSafetensors(entries)}};
  }

  GoldenFile file;  // as GGUF has the model
  std::string config;
  std::vector<SafetensorsEntry> entries;

 private:
  int64_t Number(const std::string& name) const {
    for (const GoldenKey& key : file.keys) {
      if (key.name == architecture_ + "." + name) return std::stoll(key.value);
    }
    return 0;
  }

  const TensorInfo& Golden(const std::string& name) const {
    const auto found = std::find_if(file.tensors.begin(), file.tensors.end(),
                                    [&](const TensorInfo& info) { return info.name == name; });
    EXPECT_NE(found, file.tensors.end()) << name;
    return *found;
  }

  // What transformers calls `name`: the values of GGUF's tensor, in its order.
  std::vector<float> Values(const std::string& name) const {
    std::string golden, expert;
    const size_t experts = name.find(".experts.");
    if (experts != std::string::npos) {
      const size_t number = experts + std::string_view(".experts.").size();
      expert = name.substr(number, name.find('.', number) - number);
    }
    const TensorInfo& info = Golden(GgufName(name));
    std::vector<float> values = TensorValues(info);
    if (!expert.empty()) {
      const auto part = static_cast<std::ptrdiff_t>(info.shape[0] * info.shape[1]);
      const auto begin = values.begin() + std::stoll(expert) * part;
      return std::vector<float>(begin, begin + part);
    }
    if (architecture_.starts_with("gemma") && name.ends_with("norm.weight")) {
      for (float& value : values) value -= 1;
    }
    if (heads_ > 0 && name.ends_with("q_proj.weight")) return Halves(values, info, heads_);
    if (heads_ > 0 && name.ends_with("k_proj.weight")) return Halves(values, info, kv_heads_);
    return values;
  }

  // Rows whose pairs are adjacent, ordered so that pairs are halves of a head apart.
  static std::vector<float> Halves(const std::vector<float>& values, const TensorInfo& info,
                                   int64_t heads) {
    const int64_t cols = info.shape[0], head_dim = info.shape[1] / heads;
    std::vector<float> out(values.size());
    for (int64_t row = 0; row < info.shape[1]; ++row) {
      const int64_t head = row / head_dim, j = row % head_dim;
      const int64_t from = head * head_dim + j % (head_dim / 2) * 2 + j / (head_dim / 2);
      std::copy_n(values.begin() + from * cols, cols, out.begin() + row * cols);
    }
    return out;
  }

  // Written down a second time, so that a mistake in the first is noticed.
  std::string GgufName(const std::string& name) const {
    if (name == "model.embed_tokens.weight") return "token_embd.weight";
    if (name == "model.norm.weight") return "output_norm.weight";
    if (name == "lm_head.weight") return "output.weight";
    const std::string layer = name.substr(13, name.find('.', 13) - 13);
    const bool behind = architecture_.starts_with("gemma") || architecture_ == "olmo2";
    const std::pair<std::string_view, std::string_view> parts[] = {
        // the first counts
        {"input_layernorm", "attn_norm"},
        {"post_attention_layernorm", behind ? "post_attention_norm" : "ffn_norm"},
        {"pre_feedforward", "ffn_norm"},
        {"post_feedforward", "post_ffw_norm"},
        {"qkv_proj", "attn_qkv"},
        {"q_proj", "attn_q"},
        {"k_proj", "attn_k"},
        {".v_proj", "attn_v"},
        {"o_proj", "attn_output"},
        {"q_norm", "attn_q_norm"},
        {"k_norm", "attn_k_norm"},
        {".w1.", "ffn_gate_exps"},
        {".w3.", "ffn_up_exps"},
        {".w2.", "ffn_down_exps"},
        {"gate_up_proj", "ffn_up"},
        {"gate_proj", "ffn_gate"},
        {"up_proj", "ffn_up"},
        {"down_proj", "ffn_down"},
        {".gate.", "ffn_gate_inp"},
    };
    const auto* found = std::find_if(std::begin(parts), std::end(parts), [&](const auto& part) {
      return name.find(part.first) != std::string::npos;
    });
    std::string part(found == std::end(parts) ? "" : found->second);
    const bool of_expert = name.find(".experts.") != std::string::npos;
    if (of_expert && !part.ends_with("_exps")) part += "_exps";
    return "blk." + layer + "." + part + name.substr(name.rfind('.'));
  }

  std::string architecture_;
  int64_t heads_ = 0, kv_heads_ = 0;  // where GGUF permutes q and k
};

// Builds the weights of what is read.
class WeightsSink : public TensorSink {
 public:
  Status OnMetadata(const Metadata& metadata) override {
    Result<ModelConfig> read = ReadModelConfig(metadata);
    if (!read.ok()) return read.status();
    builder.emplace(*std::move(read));
    return Status();
  }
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo& info) override {
    return builder->Begin(info);
  }
  Status EndTensor(const TensorInfo& info) override { return builder->End(info); }

  std::optional<WeightsBuilder> builder;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_RUNTIME_GOLDEN_FOLDER_H_
