// The header of a GGUF file: version, metadata, tensor table. Internal to
// format.
#ifndef KVASIR_FORMAT_GGUF_HEADER_H_
#define KVASIR_FORMAT_GGUF_HEADER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/gguf_reader.h"
#include "format/metadata.h"

namespace kvasir {

struct GgufHeader {
  Metadata metadata;
  std::vector<TensorInfo> tensors;  // in ascending order of offset
  uint64_t data_offset = 0;         // where the tensors' bytes begin in the file
};

// Reads a header from the first bytes of a file of `file_size` bytes. One
// attempt: if the bytes do not suffice, try again with more of them.
class GgufHeaderParser {
 public:
  GgufHeaderParser(std::span<const uint8_t> bytes, uint64_t file_size)
      : bytes_(bytes), file_size_(file_size) {}

  // False when more bytes are needed, or on an error. On success header() is
  // complete, but its views look into `bytes` until AdoptBytes.
  bool Parse();

  const Status& status() const { return status_; }
  GgufHeader& header() { return header_; }

  // Gives the bytes that were parsed to the metadata, whose views stay valid:
  // `bytes` must be the vector that the parser was given a span of.
  void AdoptBytes(std::vector<uint8_t> bytes) { header_.metadata.bytes_ = std::move(bytes); }

 private:
  bool ParsePrologue();
  bool ParseMetadata();
  bool ParseValue(ValueType type, MetadataValue& value);
  bool ParseArray(MetadataArray& array);
  bool SkipNestedArray(int depth);
  bool ParseTensors();
  bool ParseTensor(TensorInfo& info);
  bool ParseShape(TensorInfo& info);
  bool ReadAlignment(uint64_t& alignment);  // leaves it where the key is missing
  bool CheckDuplicateNames();
  bool CheckPlacement(uint64_t alignment);

  // Whether `count` more bytes are there. If not, either more must come (false
  // without an error), or the file is too short for them or the header too long
  // (an error).
  bool Need(uint64_t count);
  template <class T>
  bool Read(T& value);
  bool ReadString(std::string_view& text);
  bool ReadScalars(ValueType type, uint64_t count);

  // MALFORMED_FILE about what_, at the current offset or another. Returns false.
  bool Fail(const std::string& message);
  bool FailAt(uint64_t offset, const std::string& message);

  std::span<const uint8_t> bytes_;
  uint64_t file_size_;
  uint64_t offset_ = 0;
  std::string what_ = "the header";  // being read, for messages
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  GgufHeader header_;
  Status status_;
};

}  // namespace kvasir

#endif  // KVASIR_FORMAT_GGUF_HEADER_H_
