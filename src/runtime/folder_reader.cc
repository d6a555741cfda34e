#include "runtime/folder_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "model/huggingface_tensors.h"

namespace kvasir {
namespace {

constexpr std::string_view kWeights = ".safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
// Of a text, at most: the largest tokenizer.json have that.
constexpr uint64_t kReserved = 64 << 20;
constexpr std::string_view kOutput = "output.weight";
constexpr std::string_view kEmbedding = "token_embd.weight";

// Of those that are read; config.json may be large where it lists labels.
constexpr std::string_view kTexts[] = {"config.json",
                                       "generation_config.json",
                                       "tokenizer.json",
                                       "tokenizer.model",
                                       kIndex,
                                       "special_tokens_map.json",
                                       "chat_template.jinja",
                                       "chat_template.json",
                                       "tokenizer_config.json"};

bool IsText(std::string_view name) {
  return std::find(std::begin(kTexts), std::end(kTexts), name) != std::end(kTexts) ||
         name.ends_with(".jinja");
}

bool IsWeights(std::string_view name) { return name.ends_with(kWeights); }

Status Missing(const std::string& what) {
  return MalformedFile("the folder has no " + what + "; give all files of the model");
}

// `type` of a shape in GGUF's order.
Result<TensorInfo> InfoOf(const SafetensorsTensor& tensor, std::string name) {
  const std::optional<TensorType> type = tensor.type();
  if (!type) {
    return UnsupportedModel("tensor " + tensor.name + " is of the type " + tensor.dtype +
                            "; this build reads F32, F16 and BF16");
  }
  TensorInfo info{};
  info.name = std::move(name);
  info.type = *type;
  info.shape = {1, 1, 1, 1};
  info.dimensions = std::max(1, static_cast<int>(tensor.shape.size()));
  if (tensor.shape.size() > info.shape.size() || tensor.bytes() == 0) {
    return MalformedFile("tensor " + tensor.name + " has no elements, or more than 4 dimensions");
  }
  std::copy(tensor.shape.rbegin(), tensor.shape.rend(), info.shape.begin());
  info.bytes = tensor.bytes();
  return info;
}

bool IsNorm(std::string_view name) { return name.ends_with("norm.weight"); }

}  // namespace

bool IsFolder(std::span<const ModelFile> files) {
  return std::any_of(files.begin(), files.end(), [](const ModelFile& file) {
    return IsWeights(file.name) || IsText(file.name);
  });
}

FolderReader::FolderReader(std::vector<ModelFile> files, std::optional<TensorType> quantize,
                           TensorSink& sink)
    : files_(std::move(files)), quantize_(quantize), sink_(sink) {
  status_ = BeginFiles();
}

Status FolderReader::Append(std::span<const uint8_t> bytes) {
  if (status_.ok()) status_ = Take(bytes);
  return status_;
}

Status FolderReader::Take(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return Status();
  if (done()) return MalformedFile("bytes follow the end of the last file");
  const ModelFile& file = files_[file_];
  if (bytes.size() > file.bytes - offset_) {
    return InvalidArgument("a portion must not span two files: " + std::to_string(bytes.size()) +
                           " bytes of " + file.name + " came, " +
                           std::to_string(file.bytes - offset_) + " are left");
  }
  if (shard_) {
    if (Status status = shard_->Append(bytes); !status.ok()) return status;
  } else if (IsText(file.name)) {
    texts_[file.name].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  offset_ += bytes.size();
  if (offset_ < file.bytes) return Status();
  ++file_;
  return BeginFiles();
}

Status FolderReader::BeginFiles() {
  for (;; ++file_) {
    shard_.reset();
    offset_ = 0;
    if (done()) return Status();
    const ModelFile& file = files_[file_];
    if (IsWeights(file.name)) {
      if (Status status = folder_ ? Status() : BeginWeights(); !status.ok()) return status;
      shard_.emplace(file.name, file.bytes, static_cast<SafetensorsSink&>(*this));
      if (file.bytes == 0) return MalformedFile(file.name + " is empty");
    } else if (folder_) {
      return InvalidArgument(file.name + " must come before the weights");
    } else if (IsText(file.name) && !texts_.try_emplace(file.name).second) {
      return InvalidArgument(file.name + " was given twice");
    }
    if (IsText(file.name)) texts_[file.name].reserve(std::min(file.bytes, kReserved));
    if (file.bytes > 0) return Status();
  }
}

// All the small files are there.
Status FolderReader::BeginWeights() {
  const bool has_weights = !done();
  if (has_weights && !texts_.contains("config.json")) return Missing("config.json");
  if (!texts_.contains("tokenizer.json") && !texts_.contains("tokenizer.model")) {
    return Missing("tokenizer.json and no tokenizer.model");
  }
  if (Status status = CheckShards(); !status.ok()) return status;
  // A vocabulary can be used whatever the model is.
  if (!has_weights) texts_.erase("config.json");
  Result<FolderMetadata> folder = ReadFolderMetadata(texts_);
  if (!folder.ok()) return folder.status();
  folder_ = *std::move(folder);
  texts_.clear();
  if (Status status = sink_.OnMetadata(folder_->metadata); !status.ok()) return status;
  return has_weights ? GiveRopeDivisors() : Status();
}

Status FolderReader::CheckShards() const {
  const auto text = texts_.find(kIndex);
  if (text == texts_.end()) return Status();
  const Result<JsonDocument> index = JsonDocument::Parse(text->second, kIndex);
  if (!index.ok()) return index.status();
  for (const auto& [tensor, shard] : index->root()["weight_map"].Members()) {
    const std::string_view name = shard.StringOr("");
    const bool given = std::any_of(files_.begin(), files_.end(),
                                   [&](const ModelFile& file) { return file.name == name; });
    if (!given) return Missing(std::string(name) + ", which " + kIndex + " names");
  }
  return Status();
}

Status FolderReader::GiveRopeDivisors() {
  for (const auto& [name, divisors] : folder_->model->rope_divisors) {
    TensorInfo info{};
    info.name = name;
    info.type = TensorType::kF32;
    info.dimensions = 1;
    info.shape = {static_cast<int64_t>(divisors.size()), 1, 1, 1};
    info.bytes = divisors.size() * sizeof(float);
    const Result<std::span<uint8_t>> memory = sink_.BeginTensor(info);
    if (!memory.ok()) return memory.status();
    if (memory->size() != info.bytes) continue;
    std::memcpy(memory->data(), divisors.data(), info.bytes);
    if (Status status = sink_.EndTensor(info); !status.ok()) return status;
  }
  return Status();
}

Status FolderReader::OnHeader(const std::vector<SafetensorsTensor>& tensors) {
  for (const SafetensorsTensor& tensor : tensors) {
    if (!names_.insert(tensor.name).second) {
      return MalformedFile("tensor " + tensor.name + " is in another file, too");
    }
  }
  return Status();
}

TensorType FolderReader::TargetType(const TensorInfo& info) const {
  const bool offset = folder_->model->norm_offset != 0 && IsNorm(info.name);
  if (offset) return TensorType::kF32;
  const bool router = info.name.ends_with("ffn_gate_inp.weight");
  if (!quantize_ || info.dimensions < 2 || router) return info.type;
  if (info.shape[0] % FindTensorTypeTraits(*quantize_)->block_elements != 0) return info.type;
  const bool logits = info.name == kOutput || (folder_->model->tied && info.name == kEmbedding);
  return logits ? TensorType::kQ8_0 : *quantize_;
}

Status FolderReader::BeginTensor(const SafetensorsTensor& tensor) {
  const HuggingFaceModel& model = *folder_->model;
  std::optional<std::string> name = TranslateTensorName(tensor.name, model.architecture);
  skipped_ = !name || (model.tied && *name == kOutput);
  if (skipped_) return Status();
  Result<TensorInfo> info = InfoOf(tensor, *std::move(name));
  if (!info.ok()) return info.status();
  info_ = *std::move(info);
  const TensorType from = info_.type;
  info_.type = TargetType(info_);
  const TensorTypeTraits to = *FindTensorTypeTraits(info_.type);
  info_.bytes = static_cast<uint64_t>(info_.elements() / to.block_elements * to.block_bytes);
  const Result<std::span<uint8_t>> memory = sink_.BeginTensor(info_);
  if (!memory.ok()) return memory.status();
  skipped_ = memory->empty();
  if (skipped_) return Status();
  if (memory->size() != info_.bytes) {
    return OutOfMemory("tensor " + tensor.name + " of " + std::to_string(info_.bytes) +
                       " bytes cannot be addressed");
  }
  const float offset = IsNorm(info_.name) ? model.norm_offset : 0.0f;
  writer_ = TensorWriter(from, info_.type, offset, *memory);
  return Status();
}

Status FolderReader::TensorBytes(std::span<const uint8_t> bytes) {
  if (skipped_) return Status();
  const Status status = writer_.Append(bytes);
  if (status.ok()) return status;
  return Status(status.code(), "tensor " + info_.name + ": " + status.message());
}

Status FolderReader::EndTensor(const SafetensorsTensor&) {
  return skipped_ ? Status() : sink_.EndTensor(info_);
}

Status FolderReader::Finish() {
  if (!status_.ok()) return status_;
  if (!done()) {
    return MalformedFile(files_[file_].name + " is incomplete: " + std::to_string(offset_) +
                         " of " + std::to_string(files_[file_].bytes) + " bytes came");
  }
  return folder_ ? Status() : BeginWeights();
}

}  // namespace kvasir
