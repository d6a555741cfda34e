// Reads GGUF v2 and v3 as its bytes arrive: header first, then each tensor's
// bytes straight into memory that the sink provides. Split files come one
// after the other, in order. Source: the GGUF specification.
#ifndef KVASIR_FORMAT_GGUF_READER_H_
#define KVASIR_FORMAT_GGUF_READER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/tensor_type.h"
#include "format/metadata.h"

namespace kvasir {

struct TensorInfo {
  std::string name;
  TensorType type;
  int dimensions;  // 1..4
  std::array<int64_t, 4>
      shape;        // GGUF's order: shape[0] is contiguous (columns), unused ones are 1
  uint64_t offset;  // from the start of its file's data section
  uint64_t bytes;
  uint64_t entry_offset = 0;  // from the start of its file to its entry in the tensor table

  int64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

// Who wants the tensors. An error from it ends the reading and is passed on.
class TensorSink {
 public:
  virtual ~TensorSink() = default;
  // Once, when the first file's header is complete. For a split file the
  // tensors of the later files are announced only as they come.
  virtual Status OnMetadata(const Metadata& metadata) = 0;
  // Where to put the tensor's info.bytes bytes; stays valid until EndTensor. An
  // empty span (with ok) skips the tensor, one of another size is OUT_OF_MEMORY
  // (a tensor that is larger than the address space). Called when its first byte arrives.
  virtual Result<std::span<uint8_t>> BeginTensor(const TensorInfo& info) = 0;
  virtual Status EndTensor(const TensorInfo& info) = 0;
};

// Every length and offset is checked before use: MALFORMED_FILE with the key or
// tensor and the byte offset for a damaged file, UNSUPPORTED_MODEL for a tensor
// type or version this build does not read. What it allocates beside the sink
// follows the bytes of the header that arrived, never what they claim.
class GgufReader {
 public:
  // `file_sizes`: bytes of each split file, in order; one for a plain file.
  GgufReader(std::vector<uint64_t> file_sizes, TensorSink& sink);
  ~GgufReader();

  // The next bytes of the current file, in any portion; a portion never spans
  // two files: when a file's last byte was taken the next one begins. After an
  // error every call returns that error.
  Status Append(std::span<const uint8_t> bytes);

  // All files were appended whole; an error if not.
  Status Finish();

  // The first file's metadata; only after OnMetadata.
  const Metadata& metadata() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kvasir

#endif  // KVASIR_FORMAT_GGUF_READER_H_
