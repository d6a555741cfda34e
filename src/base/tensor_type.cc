#include "base/tensor_type.h"

#include <cassert>

namespace kvasir {

std::optional<TensorTypeTraits> FindTensorTypeTraits(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return TensorTypeTraits{"F32", 1, 4};
    case TensorType::kF16:
      return TensorTypeTraits{"F16", 1, 2};
    case TensorType::kQ4_0:
      return TensorTypeTraits{"Q4_0", 32, 18};
    case TensorType::kQ5_0:
      return TensorTypeTraits{"Q5_0", 32, 22};
    case TensorType::kQ8_0:
      return TensorTypeTraits{"Q8_0", 32, 34};
    case TensorType::kQ4_K:
      return TensorTypeTraits{"Q4_K", 256, 144};
    case TensorType::kQ5_K:
      return TensorTypeTraits{"Q5_K", 256, 176};
    case TensorType::kQ6_K:
      return TensorTypeTraits{"Q6_K", 256, 210};
    case TensorType::kBF16:
      return TensorTypeTraits{"BF16", 1, 2};
  }
  return std::nullopt;
}

int64_t RowBytes(TensorType type, int64_t cols) {
  const std::optional<TensorTypeTraits> traits = FindTensorTypeTraits(type);
  assert(traits.has_value() && cols % traits->block_elements == 0);
  return cols / traits->block_elements * traits->block_bytes;
}

}  // namespace kvasir
