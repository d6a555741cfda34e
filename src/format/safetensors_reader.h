// Reads a safetensors file as its bytes arrive: header first, then the bytes of
// each tensor, in portions, as they stand in the file.
#ifndef KVASIR_FORMAT_SAFETENSORS_READER_H_
#define KVASIR_FORMAT_SAFETENSORS_READER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/safetensors_header.h"

namespace kvasir {

// Who wants the tensors. An error from it ends the reading and is passed on.
class SafetensorsSink {
 public:
  virtual ~SafetensorsSink() = default;
  // When the header is complete, with the tensors in their order.
  virtual Status OnHeader(const std::vector<SafetensorsTensor>& tensors) = 0;
  virtual Status BeginTensor(const SafetensorsTensor& tensor) = 0;
  virtual Status TensorBytes(std::span<const uint8_t> bytes) = 0;  // the next ones
  virtual Status EndTensor(const SafetensorsTensor& tensor) = 0;
};

// Errors are those of ParseSafetensorsHeader; all begin with the file's name.
// What it allocates follows the bytes of the header that arrived.
class SafetensorsReader {
 public:
  SafetensorsReader(std::string file_name, uint64_t file_size, SafetensorsSink& sink);

  // The next bytes of the file, in any portion. The first error is final.
  Status Append(std::span<const uint8_t> bytes);
  bool done() const { return status_.ok() && offset_ == file_size_; }

 private:
  Status Take(std::span<const uint8_t> bytes);
  Result<size_t> TakeHeader(std::span<const uint8_t> bytes);
  Status TakeData(std::span<const uint8_t> bytes);
  Status EndEmptyTensors();  // those at the place that is next
  Status InFile(const Status& status) const;

  std::string file_name_;
  uint64_t file_size_;
  SafetensorsSink& sink_;
  Status status_;
  uint64_t offset_ = 0;          // taken of the file
  std::vector<uint8_t> header_;  // its length and text, as far as they came
  uint64_t data_offset_ = 0;     // 0: the header is not complete
  std::vector<SafetensorsTensor> tensors_;
  size_t tensor_ = 0;  // the next one to take, or being taken
};

}  // namespace kvasir

#endif  // KVASIR_FORMAT_SAFETENSORS_READER_H_
