// What tells the architectures apart, one table entry each. The configuration
// and the list of a model's tensors follow from it; the forward pass reads those
// and knows no names.
#ifndef KVASIR_MODEL_ARCHITECTURES_H_
#define KVASIR_MODEL_ARCHITECTURES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kvasir {

// Tensors that come together. What each is called and where it goes:
// layer_tensors.cc.
enum TensorGroup : uint32_t {
  kNormsBefore = 1u << 0,  // of attention's and feed-forward's input
  kSplitQkv = 1u << 1,
  kQkvBiases = 1u << 2,
  kAttentionOutput = 1u << 3,
  kAttentionOutputBias = 1u << 4,
  kSplitFfn = 1u << 5,
  kFfnBiases = 1u << 6,
};

struct Architecture {
  std::string_view name;  // `general.architecture`
  uint32_t required = 0;  // TensorGroups that every layer has
  uint32_t optional = 0;  // that it may have
};

// Null for one that this build does not know.
const Architecture* FindArchitecture(std::string_view name);

// "llama, qwen2, ...".
std::string ListOfArchitectures();

}  // namespace kvasir

#endif  // KVASIR_MODEL_ARCHITECTURES_H_
