// Reads the files of a Hugging Face folder as their bytes arrive, and gives what a
// GGUF file of the model would hold: metadata, then tensors under GGUF's names.
#ifndef KVASIR_RUNTIME_FOLDER_READER_H_
#define KVASIR_RUNTIME_FOLDER_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/tensor_type.h"
#include "format/gguf_reader.h"
#include "format/safetensors_reader.h"
#include "model/tensor_writer.h"
#include "runtime/folder_metadata.h"

namespace kvasir {

struct ModelFile {
  std::string name;  // within the folder, as "config.json"; empty for a GGUF file
  uint64_t bytes = 0;
};

// Whether these are files of a folder rather than GGUF files.
bool IsFolder(std::span<const ModelFile> files);

class FolderReader : private SafetensorsSink {
 public:
  // The *.safetensors come last. Files of names that are not known are passed over.
  // `quantize`: what matrices become as they come, Q8_0 or Q4_0; without it they stay as they
  // are. Vectors, the experts' router and matrices whose columns are not whole
  // blocks stay, too. With Q4_0, the matrix that gives the logits becomes Q8_0.
  FolderReader(std::vector<ModelFile> files, std::optional<TensorType> quantize, TensorSink& sink);

  // As GgufReader's.
  Status Append(std::span<const uint8_t> bytes);
  Status Finish();

 private:
  Status OnHeader(const std::vector<SafetensorsTensor>& tensors) override;
  Status BeginTensor(const SafetensorsTensor& tensor) override;
  Status TensorBytes(std::span<const uint8_t> bytes) override;
  Status EndTensor(const SafetensorsTensor& tensor) override;

  bool done() const { return file_ == files_.size(); }
  Status Take(std::span<const uint8_t> bytes);
  Status BeginFiles();  // as far as they are empty; and the one that is next
  Status BeginWeights();
  Status CheckShards() const;
  Status GiveRopeDivisors();
  TensorType TargetType(const TensorInfo& info) const;

  std::vector<ModelFile> files_;
  std::optional<TensorType> quantize_;
  TensorSink& sink_;
  Status status_;
  size_t file_ = 0;      // being read
  uint64_t offset_ = 0;  // taken of it
  std::map<std::string, std::string> texts_;
  std::optional<FolderMetadata> folder_;
  std::optional<SafetensorsReader> shard_;
  std::set<std::string> names_;  // of the tensors so far
  TensorInfo info_;              // of the tensor that is being taken
  bool skipped_ = false;
  TensorWriter writer_;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_FOLDER_READER_H_
