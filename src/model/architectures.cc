#include "model/architectures.h"

namespace kvasir {
namespace {

constexpr uint32_t kAttention = kSplitQkv | kAttentionOutput;

constexpr std::string_view kGemma2Scales[] = {"attn_logit_softcapping", "final_logit_softcapping"};

constexpr std::string_view kGraniteScales[] = {"attention.scale", "embedding_scale",
                                               "residual_scale", "logit_scale"};

constexpr Architecture kArchitectures[] = {
    {
        .name = "llama",
        .required = kNormsBefore | kAttention | kSplitFfn,
        .optional = kQkvBiases | kAttentionOutputBias | kFfnBiases | kExperts,
        .rope_pairs = RopePairs::kAdjacent,
    },
    {
        .name = "qwen2",
        .required = kNormsBefore | kAttention | kQkvBiases | kSplitFfn,
    },
    {
        .name = "qwen3",
        .required = kNormsBefore | kAttention | kHeadNorms | kSplitFfn,
    },
    {
        .name = "gemma2",
        .required = kNormsBefore | kNormsAfter | kAttention | kSplitFfn,
        .activation = Activation::kGelu,
        .sliding = {.period = 2, .required = true},
        .embedding_times_root = true,
        .layers_with_share_scale = 46,  // the 27B model
        .required_scales = kGemma2Scales,
    },
    {
        .name = "gemma3",
        .required = kNormsBefore | kNormsAfter | kAttention | kHeadNorms | kSplitFfn,
        .activation = Activation::kGelu,
        .sliding = {.period = 6, .required = true, .unscaled_rope = true, .rope_theta = 10000.0},
        .embedding_times_root = true,
        .layers_with_share_scale = 62,  // the 27B model
    },
    {
        .name = "olmo2",
        .required = kNormsAfter | kAttention | kRowNorms | kSplitFfn,
    },
    {
        .name = "granite",
        .required = kNormsBefore | kAttention | kSplitFfn,
        .optional = kQkvBiases | kAttentionOutputBias | kFfnBiases,
        .rope_pairs = RopePairs::kAdjacent,
        .required_scales = kGraniteScales,
    },
    {
        .name = "smollm3",
        .required = kNormsBefore | kAttention | kSplitFfn,
        .rope_pairs = RopePairs::kAdjacent,
        .rope_period = 4,
    },
    {
        .name = "phi3",
        .required = kNormsBefore | kFusedQkv | kAttentionOutput | kFusedFfn,
        .optional = kRopeFactors,
        .sliding = {.period = 0},
    },
    {
        .name = "qwen3moe",
        .required = kNormsBefore | kAttention | kHeadNorms | kExperts,
    },
};

}  // namespace

const Architecture* FindArchitecture(std::string_view name) {
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
  }
  return nullptr;
}

std::string ListOfArchitectures() {
  std::string list;
  for (const Architecture& architecture : kArchitectures) {
    if (!list.empty()) list += ", ";
    list += architecture.name;
  }
  return list;
}

}  // namespace kvasir
