// A trained model's weights, in any tensor type.
//
// The widths of small models are no multiples of the 256 columns that K-quants need.
// So zeros widen them: the residual stream and the feed-forward layer by values that no
// matrix writes, and each group of query heads by heads that the output projection
// ignores. The norms divide by the new width, and their weights and epsilon make up for
// it. What the model computes stays the same but for rounding, and every matrix can be
// of every type.
#ifndef KVASIR_TESTS_CPP_RUNTIME_TRAINED_MODEL_H_
#define KVASIR_TESTS_CPP_RUNTIME_TRAINED_MODEL_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/collector.h"
#include "kernels/block_quantizers.h"
#include "model/test_model.h"
#include "runtime/load_tokenizer.h"
#include "runtime/model.h"

namespace kvasir {

class TrainedModel {
 public:
  // `file`: the bytes of a GGUF file with a tied output and no biases.
  explicit TrainedModel(const std::string& file)
      : reader_(std::vector<uint64_t>{file.size()}, collected_) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
    Expect(reader_.Append({bytes, file.size()}));
    Expect(reader_.Finish());
    config_ = *ReadModelConfig(reader_.metadata());
    config_.vocab_size = collected_.infos.at("token_embd.weight").shape[1];
    EXPECT_EQ(collected_.infos.size(), RequiredTensors(config_).size());
    wide_ = config_;
    wide_.dim = RoundUp(config_.dim);
    wide_.heads = RoundUp(config_.q_dim()) / config_.head_dim;
    wide_.ffn_dim = RoundUp(config_.ffn_dim);
    wide_.rms_norm_eps *= Shrink();
  }

  // Of the file's shape, in F32.
  std::shared_ptr<const Model> Narrow() const {
    return Build(config_, [&](const TensorInfo& info, std::span<uint8_t> out) {
      const std::vector<float> values = Values(info.name);
      std::memcpy(out.data(), values.data(), out.size());
    });
  }

  // Widened, with all matrices rounded to `type` and stored as its blocks, or as what
  // these mean in F32.
  std::shared_ptr<const Model> Wide(TensorType type, bool as_blocks) const {
    return Build(
        wide_,
        [&](const TensorInfo& info, std::span<uint8_t> out) {
          const std::vector<float> values = Widened(info);
          if (info.shape[1] == 1) {
            std::memcpy(out.data(), values.data(), out.size());
            return;
          }
          const TensorType of_blocks = TypeInFile(info.name, type);
          const TensorTypeTraits traits = *FindTensorTypeTraits(of_blocks);
          std::vector<uint8_t> block(static_cast<size_t>(traits.block_bytes));
          uint8_t* at = out.data();
          for (size_t i = 0; i < values.size(); i += static_cast<size_t>(traits.block_elements)) {
            QuantizeBlock(of_blocks, &values[i], block.data());
            if (as_blocks) {
              at = std::copy(block.begin(), block.end(), at);
            } else {
              DequantizeBlock(of_blocks, block.data(), reinterpret_cast<float*>(at));
              at += traits.block_elements * static_cast<int64_t>(sizeof(float));
            }
          }
        },
        as_blocks ? type : TensorType::kF32);
  }

 private:
  static void Expect(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

  // A file of two bits has more of them where it hurts most: all matrices in Q2_K would
  // make a model that finds its text hard, and notices any rounding.
  static TensorType TypeInFile(const std::string& name, TensorType type) {
    if (type != TensorType::kQ2_K) return type;
    if (name == "token_embd.weight") return TensorType::kQ6_K;
    for (const char* part : {"attn_v", "attn_output", "ffn_down"}) {
      if (name.find(part) != std::string::npos) return TensorType::kQ3_K;
    }
    return type;
  }

  static int64_t RoundUp(int64_t width) { return (width + 255) / 256 * 256; }

  float Shrink() const { return static_cast<float>(config_.dim) / static_cast<float>(wide_.dim); }

  // `fill` puts the values of a tensor into its memory.
  template <class Fill>
  std::shared_ptr<const Model> Build(const ModelConfig& config, const Fill& fill,
                                     TensorType type = TensorType::kF32) const {
    WeightsBuilder builder(config);
    for (TensorInfo info : RequiredTensors(config)) {
      if (info.shape[1] > 1) {
        info.type = TypeInFile(info.name, type);
        info.bytes = static_cast<uint64_t>(info.shape[1] * RowBytes(info.type, info.shape[0]));
      }
      const Result<std::span<uint8_t>> memory = builder.Begin(info);
      Expect(memory.status());
      if (!memory.ok()) return nullptr;
      fill(info, *memory);
      Expect(builder.End(info));
    }
    Result<Weights> weights = builder.Finish();
    Expect(weights.status());
    if (!weights.ok()) return nullptr;
    return std::make_shared<const Model>(ModelDescription{}, *LoadTokenizer(reader_.metadata()),
                                         builder.config(), *std::move(weights), builder.type_use(),
                                         1);
  }

  // A tensor of the file as floats.
  std::vector<float> Values(const std::string& name) const {
    const TensorInfo& info = collected_.infos.at(name);
    const std::vector<uint8_t>& bytes = collected_.tensors.at(name);
    const TensorTypeTraits traits = *FindTensorTypeTraits(info.type);
    std::vector<float> values(static_cast<size_t>(info.elements()));
    float* out = values.data();
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(traits.block_bytes)) {
      DequantizeBlock(info.type, &bytes[at], out);
      out += traits.block_elements;
    }
    return values;
  }

  // The same with zeros where the wide model has more rows and columns.
  std::vector<float> Widened(const TensorInfo& wide) const {
    const TensorInfo& info = collected_.infos.at(wide.name);
    const bool is_norm = wide.shape[1] == 1;
    const float scale = is_norm ? std::sqrt(Shrink()) : 1.0f;
    const std::vector<float> values = Values(wide.name);
    const bool query_rows = wide.name.ends_with("attn_q.weight");
    const bool query_cols = wide.name.ends_with("attn_output.weight");
    std::vector<float> out(static_cast<size_t>(wide.elements()));
    for (int64_t r = 0; r < info.shape[1]; ++r) {
      const int64_t row = query_rows ? WideQuery(r) : r;
      for (int64_t c = 0; c < info.shape[0]; ++c) {
        const int64_t col = query_cols ? WideQuery(c) : c;
        out[static_cast<size_t>(row * wide.shape[0] + col)] =
            scale * values[static_cast<size_t>(r * info.shape[0] + c)];
      }
    }
    return out;
  }

  // Where value i of the query heads is in the wide model.
  int64_t WideQuery(int64_t i) const {
    const int64_t head = i / config_.head_dim, group = config_.heads / config_.kv_heads;
    const int64_t wide_group = wide_.heads / wide_.kv_heads;
    return (head / group * wide_group + head % group) * config_.head_dim + i % config_.head_dim;
  }

  Collector collected_;
  GgufReader reader_;
  ModelConfig config_, wide_;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_RUNTIME_TRAINED_MODEL_H_
