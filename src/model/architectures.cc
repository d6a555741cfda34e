#include "model/architectures.h"

namespace kvasir {
namespace {

constexpr uint32_t kAttention = kSplitQkv | kAttentionOutput;

constexpr Architecture kArchitectures[] = {
    {
        .name = "llama",
        .required = kNormsBefore | kAttention | kSplitFfn,
        .optional = kQkvBiases | kAttentionOutputBias | kFfnBiases,
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
