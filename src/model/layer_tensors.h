// The tensors of a layer: what a file calls them, their extents, and where they
// go.
#ifndef KVASIR_MODEL_LAYER_TENSORS_H_
#define KVASIR_MODEL_LAYER_TENSORS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "model/architectures.h"
#include "model/config.h"
#include "model/weights.h"

namespace kvasir {

enum class Extent { kDim, kHead, kQuery, kKeyValue, kFfn, kExpertFfn, kExpertCount };

int64_t SizeOf(Extent extent, const ModelConfig& config);

using LayerVector = std::vector<float> LayerWeights::*;

// Matrices whose rows follow one another in the tensor.
struct LayerPart {
  Extent rows = Extent::kDim;
  WeightMatrix LayerWeights::*place = nullptr;
};
using LayerMatrices = std::array<LayerPart, 3>;  // of which the first ones have a place

// One matrix an expert.
struct LayerExperts {
  Extent rows;
  std::vector<WeightMatrix> LayerWeights::*place;
};

// `blk.N.<name>`.
struct LayerTensor {
  TensorGroup group;
  std::string_view name;
  Extent cols;
  std::variant<LayerVector, LayerMatrices, LayerExperts> place;
};

// [experts, rows, cols] that it must have.
std::array<int64_t, 3> ShapeOf(const LayerTensor& tensor, const ModelConfig& config);

// Those of all architectures.
std::span<const LayerTensor> LayerTensors();

}  // namespace kvasir

#endif  // KVASIR_MODEL_LAYER_TENSORS_H_
