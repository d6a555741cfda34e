// Brings a tensor's elements from the type of its file to the type that its weights
// are to have, as its bytes arrive.
#ifndef KVASIR_MODEL_TENSOR_WRITER_H_
#define KVASIR_MODEL_TENSOR_WRITER_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor_type.h"

namespace kvasir {

class TensorWriter {
 public:
  TensorWriter() = default;
  // From F32, F16 or BF16 to the same type, to F32, or to one that CanQuantizeTo;
  // `out` has the bytes of all elements. Where `offset` is not 0 it is added to each,
  // and the result is F32.
  TensorWriter(TensorType from, TensorType to, float offset, std::span<uint8_t> out);

  // The next bytes, in any portion, not more than there are elements in `out`. What
  // is kept as floats is a thousand elements. MALFORMED_FILE for an element that a
  // quantized type cannot hold: infinite, no number, or too large.
  Status Append(std::span<const uint8_t> bytes);

 private:
  static constexpr int64_t kChunk = 1024;  // elements, whole blocks

  Status Flush();

  TensorType from_ = TensorType::kF32, to_ = TensorType::kF32;
  float offset_ = 0;
  std::span<uint8_t> out_;    // what is left of it
  std::vector<uint8_t> raw_;  // elements that wait for a chunk to be whole
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_TENSOR_WRITER_H_
