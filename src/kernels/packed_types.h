// Which tensor types are packed, and how. Internal to the kernels.
#ifndef KVASIR_KERNELS_PACKED_TYPES_H_
#define KVASIR_KERNELS_PACKED_TYPES_H_

#include <type_traits>

#include "base/tensor_type.h"
#include "kernels/packed_formats.h"
#include "kernels/packed_k_formats.h"
#include "kernels/packed_small_k_formats.h"
#include "kernels/packed_table_formats.h"

namespace kvasir {

// Calls fn with the format that a type is multiplied in; false for the others.
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
    case TensorType::kQ4_1:
      fn(std::type_identity<PackedQ4_1>());
      return true;
    case TensorType::kQ5_1:
      fn(std::type_identity<PackedQ5_1>());
      return true;
    case TensorType::kQ2_K:
    case TensorType::kTQ1_0:
    case TensorType::kTQ2_0:
      fn(std::type_identity<PackedQ2_K>());
      return true;
    case TensorType::kQ3_K:
      fn(std::type_identity<PackedQ3_K>());
      return true;
    case TensorType::kIQ4_NL:
      fn(std::type_identity<PackedIQ4_NL>());
      return true;
    case TensorType::kIQ4_XS:
      fn(std::type_identity<PackedIQ4_XS>());
      return true;
    case TensorType::kMXFP4:
      fn(std::type_identity<PackedMXFP4>());
      return true;
    case TensorType::kIQ1_S:
    case TensorType::kIQ1_M:
    case TensorType::kIQ2_XXS:
    case TensorType::kIQ2_XS:
    case TensorType::kIQ2_S:
    case TensorType::kIQ3_XXS:
    case TensorType::kIQ3_S:
      fn(std::type_identity<PackedCodes>());
      return true;
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
      break;
  }
  return false;
}

// The same with a format that knows the type's blocks in files: several types may be
// packed alike.
template <class F>
bool WithFileFormat(TensorType type, F&& fn) {
  switch (type) {
    case TensorType::kTQ1_0:
      fn(std::type_identity<PackedTernary<54, TQ1_0ToQ2_K>>());
      return true;
    case TensorType::kTQ2_0:
      fn(std::type_identity<PackedTernary<66, TQ2_0ToQ2_K>>());
      return true;
    case TensorType::kIQ1_S:
      fn(std::type_identity<PackedFromCodes<50, DecodeIQ1_S>>());
      return true;
    case TensorType::kIQ1_M:
      fn(std::type_identity<PackedFromCodes<56, DecodeIQ1_M>>());
      return true;
    case TensorType::kIQ2_XXS:
      fn(std::type_identity<PackedFromCodes<66, DecodeIQ2_XXS>>());
      return true;
    case TensorType::kIQ2_XS:
      fn(std::type_identity<PackedFromCodes<74, DecodeIQ2_XS>>());
      return true;
    case TensorType::kIQ2_S:
      fn(std::type_identity<PackedFromCodes<82, DecodeIQ2_S>>());
      return true;
    case TensorType::kIQ3_XXS:
      fn(std::type_identity<PackedFromCodes<98, DecodeIQ3_XXS>>());
      return true;
    case TensorType::kIQ3_S:
      fn(std::type_identity<PackedFromCodes<110, DecodeIQ3_S>>());
      return true;
    default:
      return WithPackedFormat(type, [&]<class Format>(std::type_identity<Format> format) {
        if constexpr (requires { Format::kRawBytes; }) fn(format);
      });
  }
}

}  // namespace kvasir

#endif  // KVASIR_KERNELS_PACKED_TYPES_H_
