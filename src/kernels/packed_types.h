// Which tensor types are packed, and how. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_TYPES_H_
#define KVASIR_KERNELS_PACKED_TYPES_H_

#include <type_traits>

#include "base/tensor_type.h"
#include "kernels/packed_formats.h"
#include "kernels/packed_k_formats.h"

namespace kvasir {

// Calls fn with the format of a type that is packed; false for the others.
template <class F>
bool WithPackedFormat(TensorType type, F&& fn) {
  switch (type) {
    case TensorType::kQ8_0:
      fn(std::type_identity<PackedQ8_0>());
      return true;
    case TensorType::kQ4_0:
      fn(std::type_identity<PackedQ4_0>());
      return true;
    case TensorType::kQ5_0:
      fn(std::type_identity<PackedQ5_0>());
      return true;
    case TensorType::kQ4_K:
      fn(std::type_identity<PackedQ4_K>());
      return true;
    case TensorType::kQ5_K:
      fn(std::type_identity<PackedQ5_K>());
      return true;
    case TensorType::kQ6_K:
      fn(std::type_identity<PackedQ6_K>());
      return true;
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
      break;
  }
  return false;
}

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_TYPES_H_
