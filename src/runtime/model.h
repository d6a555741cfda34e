// A loaded model: immutable weights and vocabulary, shared by its sessions.
#ifndef KVASIR_RUNTIME_MODEL_H_
#define KVASIR_RUNTIME_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/tensor_type.h"
#include "base/thread_pool.h"
#include "model/config.h"
#include "model/weights.h"
#include "model/weights_builder.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// What the file says of itself; empty where it says nothing.
struct ModelDescription {
  std::string name;
  std::string license;
  std::string chat_template;  // Jinja
  std::string architecture;
  std::string vocabulary;  // its kind, and how it cuts words
};

class Model {
 public:
  // A file with a vocabulary only has no config and no weights: it can
  // tokenize, and nothing else.
  Model(ModelDescription description, std::unique_ptr<Tokenizer> tokenizer)
      : description_(std::move(description)), tokenizer_(std::move(tokenizer)) {}
  // What a model's headers say, without its weights. `problem`: why it cannot run.
  Model(ModelDescription description, std::unique_ptr<Tokenizer> tokenizer,
        std::optional<ModelConfig> config, TypeUses type_use, Status problem)
      : description_(std::move(description)),
        tokenizer_(std::move(tokenizer)),
        config_(std::move(config)),
        type_use_(std::move(type_use)),
        problem_(std::move(problem)) {}
  Model(ModelDescription description, std::unique_ptr<Tokenizer> tokenizer, ModelConfig config,
        Weights weights, TypeUses type_use, uint64_t fingerprint)
      : description_(std::move(description)),
        tokenizer_(std::move(tokenizer)),
        config_(std::move(config)),
        weights_(std::move(weights)),
        type_use_(std::move(type_use)),
        fingerprint_(fingerprint) {}

  const ModelDescription& description() const { return description_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  bool has_weights() const { return !weights_.token_embedding.empty(); }
  bool has_config() const { return config_.has_value(); }  // with weights, and in headers
  const ModelConfig& config() const { return *config_; }
  const Weights& weights() const { return weights_; }
  // How the tensors are stored in the file.
  const TypeUses& type_use() const { return type_use_; }
  // Why it cannot run; only of headers.
  const Status& problem() const { return problem_; }

  // Tells models apart: of the tensors' names, types, shapes and first bytes.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  ModelDescription description_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::optional<ModelConfig> config_;
  Weights weights_;
  TypeUses type_use_;
  Status problem_;
  uint64_t fingerprint_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_MODEL_H_
