#include "base/tensor_type.h"

#include <cassert>

namespace kvasir {
namespace {

struct TensorTypeEntry {
  TensorType type;
  TensorTypeTraits traits;
};

constexpr TensorTypeEntry kTensorTypes[] = {
    {TensorType::kF32, {"F32", 1, 4}},
    {TensorType::kF16, {"F16", 1, 2}},
    {TensorType::kBF16, {"BF16", 1, 2}},
    {TensorType::kQ8_0, {"Q8_0", 32, 34}},
    {TensorType::kQ4_0, {"Q4_0", 32, 18}},
    {TensorType::kQ4_1, {"Q4_1", 32, 20}},
    {TensorType::kQ5_0, {"Q5_0", 32, 22}},
    {TensorType::kQ5_1, {"Q5_1", 32, 24}},
    {TensorType::kQ2_K, {"Q2_K", 256, 84}},
    {TensorType::kQ3_K, {"Q3_K", 256, 110}},
    {TensorType::kQ4_K, {"Q4_K", 256, 144}},
    {TensorType::kQ5_K, {"Q5_K", 256, 176}},
    {TensorType::kQ6_K, {"Q6_K", 256, 210}},
    {TensorType::kIQ1_S, {"IQ1_S", 256, 50}},
    {TensorType::kIQ1_M, {"IQ1_M", 256, 56}},
    {TensorType::kIQ2_XXS, {"IQ2_XXS", 256, 66}},
    {TensorType::kIQ2_XS, {"IQ2_XS", 256, 74}},
    {TensorType::kIQ2_S, {"IQ2_S", 256, 82}},
    {TensorType::kIQ3_XXS, {"IQ3_XXS", 256, 98}},
    {TensorType::kIQ3_S, {"IQ3_S", 256, 110}},
    {TensorType::kIQ4_NL, {"IQ4_NL", 32, 18}},
    {TensorType::kIQ4_XS, {"IQ4_XS", 256, 136}},
    {TensorType::kTQ1_0, {"TQ1_0", 256, 54}},
    {TensorType::kTQ2_0, {"TQ2_0", 256, 66}},
    {TensorType::kMXFP4, {"MXFP4", 32, 17}},
};

}  // namespace

std::optional<TensorTypeTraits> FindTensorTypeTraits(TensorType type) {
  for (const TensorTypeEntry& entry : kTensorTypes) {
    if (entry.type == type) return entry.traits;
  }
  return std::nullopt;
}

std::string TensorTypeNames() {
  std::string names;
  for (const TensorTypeEntry& entry : kTensorTypes) {
    if (!names.empty()) names += ", ";
    names += entry.traits.name;
  }
  return names;
}

int64_t RowBytes(TensorType type, int64_t cols) {
  const std::optional<TensorTypeTraits> traits = FindTensorTypeTraits(type);
  assert(traits.has_value() && cols % traits->block_elements == 0);
  return cols / traits->block_elements * traits->block_bytes;
}

}  // namespace kvasir
