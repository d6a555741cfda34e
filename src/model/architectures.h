// What tells the architectures apart, one table entry each. The configuration
// and the list of a model's tensors follow from it; the forward pass reads those
// and knows no names.
#ifndef KVASIR_MODEL_ARCHITECTURES_H_
#define KVASIR_MODEL_ARCHITECTURES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/rope.h"
#include "model/config.h"

namespace kvasir {

// Tensors that come together. What each is called and where it goes:
// layer_tensors.cc.
enum TensorGroup : uint32_t {
  kNormsBefore = 1u << 0,  // of what attention and feed-forward take in
  kNormsAfter = 1u << 1,   // of what they add
  kSplitQkv = 1u << 2,
  kQkvBiases = 1u << 3,
  kHeadNorms = 1u << 4,  // of queries and keys, each head alone
  kRowNorms = 1u << 5,   // of queries and keys, all heads together
  kAttentionOutput = 1u << 6,
  kAttentionOutputBias = 1u << 7,
  kSplitFfn = 1u << 8,
  kFfnBiases = 1u << 9,
  kFusedQkv = 1u << 10,     // one tensor after the other in one
  kFusedFfn = 1u << 11,     // the same of gate and up
  kRopeFactors = 1u << 12,  // LongRoPE's two lists, outside the layers
  kExperts = 1u << 13,      // in place of the feed-forward, where the file counts experts
};

// Layers that see a window only. Where the file names no window, all see all.
struct SlidingLayers {
  // Of so many layers the last sees all, the others slide. 0: all slide, 1: none do.
  int64_t period = 1;
  bool required = false;       // the file must name the window
  bool unscaled_rope = false;  // they rotate without the scaling of the others,
  double rope_theta = 0;       // > 0: with this base, unless the file names another
};

struct Architecture {
  std::string_view name;  // `general.architecture`
  uint32_t required = 0;  // TensorGroups that every layer has
  uint32_t optional = 0;  // that it may have
  RopePairs rope_pairs = RopePairs::kHalves;
  Activation activation = Activation::kSilu;
  SlidingLayers sliding = {};
  int64_t rope_period = 0;            // > 0: of so many layers the last does not rotate
  bool embedding_times_root = false;  // embeddings are scaled by sqrt(dim)
  // A model of so many layers scales scores by 1 / sqrt(dim / heads), not by
  // 1 / sqrt(head_dim): what files of one size leave out.
  int64_t layers_with_share_scale = 0;
  // `<name>.<key>` that must be there, of those in config.cc's kScales.
  std::span<const std::string_view> required_scales = {};
};

// Null for one that this build does not know.
const Architecture* FindArchitecture(std::string_view name);

// "llama, qwen2, ...".
std::string ListOfArchitectures();

}  // namespace kvasir

#endif  // KVASIR_MODEL_ARCHITECTURES_H_
