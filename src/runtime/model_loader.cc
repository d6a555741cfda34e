#include "runtime/model_loader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/load_tokenizer.h"

namespace kvasir {
namespace {

// Of every tensor. Models of one shape differ in them; hashing all would cost
// a part of the time that loading takes.
constexpr size_t kFingerprintBytes = 4096;

}  // namespace

ModelLoader::ModelLoader(std::vector<uint64_t> file_sizes) {
  gguf_.emplace(std::move(file_sizes), static_cast<TensorSink&>(*this));
}

ModelLoader::ModelLoader(std::vector<ModelFile> files, std::optional<TensorType> quantize,
                         Normalize nfc, bool headers_only)
    : nfc_(std::move(nfc)), headers_only_(headers_only) {
  if (IsFolder(files)) {
    folder_.emplace(std::move(files), quantize, static_cast<TensorSink&>(*this));
    return;
  }
  if (quantize) {
    status_ = InvalidArgument("quantize is for folders with safetensors; a GGUF file is as it is");
  }
  std::vector<uint64_t> sizes;
  sizes.reserve(files.size());
  for (const ModelFile& file : files) sizes.push_back(file.bytes);
  gguf_.emplace(std::move(sizes), static_cast<TensorSink&>(*this));
}

Status ModelLoader::Append(std::span<const uint8_t> bytes) {
  if (!status_.ok()) return status_;
  return folder_ ? folder_->Append(bytes) : gguf_->Append(bytes);
}

Status ModelLoader::OnMetadata(const Metadata& metadata) {
  const auto text = [&](std::string_view key) { return std::string(metadata.Text(key)); };
  description_ = {text("general.name"), text("general.license"), text("tokenizer.chat_template"),
                  text("general.architecture"), VocabularyKind(metadata)};

  Result<std::unique_ptr<Tokenizer>> tokenizer = LoadTokenizer(metadata, nfc_);
  if (!tokenizer.ok()) return tokenizer.status();
  tokenizer_ = *std::move(tokenizer);

  Result<ModelConfig> config = ReadModelConfig(metadata);
  if (config.ok()) {
    builder_.emplace(*std::move(config));
  } else {
    config_status_ = config.status();
  }
  return Status();
}

Result<std::span<uint8_t>> ModelLoader::BeginTensor(const TensorInfo& info) {
  has_tensors_ = true;
  if (headers_only_) {
    AddUse(info, type_use_);
    return std::span<uint8_t>();
  }
  if (!builder_.has_value()) return config_status_;
  Result<std::span<uint8_t>> memory = builder_->Begin(info);
  if (memory.ok()) tensor_ = *memory;
  return memory;
}

Status ModelLoader::EndTensor(const TensorInfo& info) {
  if (headers_only_) return Status();
  fingerprint_.Add({reinterpret_cast<const uint8_t*>(info.name.data()), info.name.size()});
  fingerprint_.Add(static_cast<uint64_t>(info.type));
  for (int64_t size : info.shape) fingerprint_.Add(static_cast<uint64_t>(size));
  fingerprint_.Add(tensor_.first(std::min(tensor_.size(), kFingerprintBytes)));
  return builder_->End(info);
}

Result<std::shared_ptr<const Model>> ModelLoader::Finish() {
  if (!status_.ok()) return status_;
  if (Status status = folder_ ? folder_->Finish() : gguf_->Finish(); !status.ok()) return status;
  if (!has_tensors_) {
    return std::make_shared<const Model>(std::move(description_), std::move(tokenizer_));
  }
  if (headers_only_) return FinishHeaders();
  Result<Weights> weights = builder_->Finish();
  if (!weights.ok()) return weights.status();
  const ModelConfig& config = builder_->config();
  if (tokenizer_->vocab_size() > config.vocab_size) {
    return MalformedFile("the vocabulary has " + std::to_string(tokenizer_->vocab_size()) +
                         " tokens, the embedding only " + std::to_string(config.vocab_size));
  }
  return std::make_shared<const Model>(std::move(description_), std::move(tokenizer_), config,
                                       *std::move(weights), builder_->type_use(),
                                       fingerprint_.value());
}

Result<std::shared_ptr<const Model>> ModelLoader::FinishHeaders() {
  std::optional<ModelConfig> config;
  if (builder_.has_value()) config = builder_->config();
  return std::make_shared<const Model>(std::move(description_), std::move(tokenizer_),
                                       std::move(config), std::move(type_use_), config_status_);
}

}  // namespace kvasir
