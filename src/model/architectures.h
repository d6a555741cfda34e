// What tells the architectures apart, one table entry each. The configuration
// and the list of a model's tensors follow from it; the forward pass reads those
// and knows no names.
#ifndef KVASIR_MODEL_ARCHITECTURES_H_
#define KVASIR_MODEL_ARCHITECTURES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/rope.h"

namespace kvasir {

// Tensors that come together. What each is called and where it goes:
// layer_tensors.cc.
enum TensorGroup : uint32_t {
  kNormsBefore = 1u << 0,  // of what attention and feed-forward take in
  kNormsAfter = 1u << 1,   // of what they add
  kSplitQkv = 1u << 2,
  kQkvBiases = 1u << 3,
  kHeadNorms = 1u << 4,  // of queries and keys, each head alone
  kAttentionOutput = 1u << 5,
  kAttentionOutputBias = 1u << 6,
  kSplitFfn = 1u << 7,
  kFfnBiases = 1u << 8,
};

struct Architecture {
  std::string_view name;  // `general.architecture`
  uint32_t required = 0;  // TensorGroups that every layer has
  uint32_t optional = 0;  // that it may have
  RopePairs rope_pairs = RopePairs::kHalves;
};

// Null for one that this build does not know.
const Architecture* FindArchitecture(std::string_view name);

// "llama, qwen2, ...".
std::string ListOfArchitectures();

}  // namespace kvasir

#endif  // KVASIR_MODEL_ARCHITECTURES_H_
