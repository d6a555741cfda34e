// The header of a safetensors file: the names, types, shapes and places of its
// tensors. Source: https://github.com/huggingface/safetensors (README, "Format").
#ifndef KVASIR_FORMAT_SAFETENSORS_HEADER_H_
#define KVASIR_FORMAT_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_type.h"

namespace kvasir {

struct SafetensorsTensor {
  std::string name;
  std::string dtype;            // as the file says: "F32", "BF16", "I64", ...
  std::vector<int64_t> shape;   // the fastest dimension last
  uint64_t begin = 0, end = 0;  // its bytes, from the end of the header

  uint64_t bytes() const { return end - begin; }
  // Empty for a type that no weights are read from.
  std::optional<TensorType> type() const;
};

// The tensors of a header, in the order of their bytes, of which a file has
// `data_bytes`. MALFORMED_FILE, naming the tensor, where the text is no such header, a name
// is there twice, the size of a tensor is not that of its shape, or the tensors do
// not follow one another from the first byte to the last.
Result<std::vector<SafetensorsTensor>> ParseSafetensorsHeader(std::string_view json,
                                                              uint64_t data_bytes);

}  // namespace kvasir

#endif  // KVASIR_FORMAT_SAFETENSORS_HEADER_H_
