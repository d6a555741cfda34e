// The tensors of a layer: what a file calls them, their extents, and where they
// go.
#ifndef KVASIR_MODEL_LAYER_TENSORS_H_
#define KVASIR_MODEL_LAYER_TENSORS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "model/architectures.h"
#include "model/config.h"
#include "model/weights.h"

namespace kvasir {

enum class Extent { kOne, kDim, kHead, kQuery, kKeyValue, kFfn };

int64_t SizeOf(Extent extent, const ModelConfig& config);

using LayerMatrix = WeightMatrix LayerWeights::*;
using LayerVector = std::vector<float> LayerWeights::*;

// `blk.N.<name>`.
struct LayerTensor {
  TensorGroup group;
  std::string_view name;
  Extent rows;
  Extent cols;
  std::variant<LayerMatrix, LayerVector> place;
};

// Those of all architectures.
std::span<const LayerTensor> LayerTensors();

}  // namespace kvasir

#endif  // KVASIR_MODEL_LAYER_TENSORS_H_
