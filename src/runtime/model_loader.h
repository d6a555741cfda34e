// Builds a model from the bytes of its files as they arrive.
#ifndef KVASIR_RUNTIME_MODEL_LOADER_H_
#define KVASIR_RUNTIME_MODEL_LOADER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "base/status.h"
#include "format/gguf_reader.h"
#include "runtime/folder_reader.h"
#include "runtime/model.h"
#include "tokenizer/byte_pair_tokenizer.h"

namespace kvasir {

class ModelLoader : private TensorSink {
 public:
  // `file_sizes`: bytes of each GGUF file of a split model, in order.
  explicit ModelLoader(std::vector<uint64_t> file_sizes);
  // GGUF files, or those of a Hugging Face folder, in an order that FolderReader
  // takes. `quantize`: see there; INVALID_ARGUMENT for GGUF files.
  // `nfc`: for vocabularies that ask for it. `headers_only`: the model will have no
  // weights, but a problem() where it could not run.
  ModelLoader(std::vector<ModelFile> files, std::optional<TensorType> quantize, Normalize nfc = {},
              bool headers_only = false);

  // The next bytes of the current file; see GgufReader::Append for the rules
  // and the errors. The first error is final.
  Status Append(std::span<const uint8_t> bytes);

  // All bytes were appended. Once.
  Result<std::shared_ptr<const Model>> Finish();

 private:
  Status OnMetadata(const Metadata& metadata) override;
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo& info) override;
  Status EndTensor(const TensorInfo& info) override;
  Result<std::shared_ptr<const Model>> FinishHeaders();

  // One of them.
  std::optional<GgufReader> gguf_;
  std::optional<FolderReader> folder_;
  Status status_;
  Normalize nfc_;
  bool headers_only_ = false;
  TypeUses type_use_;  // headers only
  ModelDescription description_;
  std::unique_ptr<Tokenizer> tokenizer_;
  // Why there can be no weights; matters only when tensors come, since a
  // vocabulary can be used without its architecture being known.
  Status config_status_;
  std::optional<WeightsBuilder> builder_;
  bool has_tensors_ = false;
  std::span<const uint8_t> tensor_;  // that is being filled
  Checksum fingerprint_;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_MODEL_LOADER_H_
