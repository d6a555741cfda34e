// The weights of a GGUF file, for tests that need no vocabulary.
#ifndef KVASIR_TESTS_CPP_MODEL_GGUF_MODEL_H_
#define KVASIR_TESTS_CPP_MODEL_GGUF_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/gguf_reader.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/weights_builder.h"

namespace kvasir {

class GgufModel : private TensorSink {
 public:
  // Of a file's bytes; see status().
  explicit GgufModel(const std::string& file) {
    GgufReader reader({file.size()}, *this);
    status_ = reader.Append({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
    if (status_.ok()) status_ = reader.Finish();
    if (!status_.ok()) return;
    Result<Weights> weights = builder_->Finish();
    status_ = weights.status();
    if (weights.ok()) weights_ = *std::move(weights);
  }

  const Status& status() const { return status_; }
  const ModelConfig& config() const { return builder_->config(); }
  const std::map<TensorType, TypeUse>& types() const { return builder_->type_use(); }

  // The logits after each token, and after each of `greedy` more, of which each is the
  // likeliest after those before; [tokens, vocab]. `tokens` grows by them. `prefill`:
  // how many of the given tokens run at once.
  Result<std::vector<float>> Logits(std::vector<int32_t>& tokens, int64_t greedy,
                                    int64_t prefill) const {
    ThreadPool pool(1);
    const auto given = static_cast<int64_t>(tokens.size());
    Result<KvCaches> caches =
        MakeKvCaches(config(), {.type = KvType::kF32, .capacity = given + greedy, .sliding = {}});
    if (!caches.ok()) return caches.status();
    Result<DecoderWorkspace> workspace = DecoderWorkspace::Create(config(), prefill, pool.size());
    if (!workspace.ok()) return workspace.status();
    const Decoder decoder(config(), weights_, pool);
    const auto vocab = static_cast<size_t>(config().vocab_size);
    std::vector<float> logits;
    for (int64_t at = 0; at < given + greedy;) {
      if (at >= given) {
        const auto last = logits.end() - static_cast<std::ptrdiff_t>(vocab);
        tokens.push_back(static_cast<int32_t>(std::max_element(last, logits.end()) - last));
      }
      const int64_t count = at < given ? std::min(prefill, given - at) : 1;
      logits.resize(logits.size() + static_cast<size_t>(count) * vocab);
      const Status status =
          decoder.Forward(std::span<const int32_t>(tokens).subspan(static_cast<size_t>(at),
                                                                   static_cast<size_t>(count)),
                          at, *caches, *workspace, LogitRows::kAll,
                          std::span<float>(logits).last(static_cast<size_t>(count) * vocab));
      if (!status.ok()) return status;
      at += count;
    }
    return logits;
  }

 private:
  Status OnMetadata(const Metadata& metadata) override {
    Result<ModelConfig> config = ReadModelConfig(metadata);
    if (!config.ok()) return config.status();
    builder_.emplace(*std::move(config));
    return Status();
  }
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo& info) override {
    return builder_->Begin(info);
  }
  Status EndTensor(const TensorInfo& info) override { return builder_->End(info); }

  Status status_;
  std::optional<WeightsBuilder> builder_;
  Weights weights_;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_MODEL_GGUF_MODEL_H_
