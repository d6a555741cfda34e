// Rotary position embedding. Source: Su et al., "RoFormer", 2021.
#ifndef KVASIR_KERNELS_ROPE_H_
#define KVASIR_KERNELS_ROPE_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/view.h"

namespace kvasir {

// The angles of consecutive positions, shared by all heads and layers.
class RopeAngles {
 public:
  // cos and sin of (start + s) * inv_freq[j], times `magnitude` (YaRN's
  // attention factor; 1 otherwise), for s in [0, seq), positions beyond `last`
  // counting as `last`. Reuses its memory.
  void Compute(std::span<const float> inv_freq, float magnitude, int64_t start, int64_t seq,
               int64_t last = std::numeric_limits<int64_t>::max());

  int64_t seq() const { return seq_; }
  int64_t pairs() const { return pairs_; }
  const float* cos(int64_t s) const { return cos_.data() + s * pairs_; }
  const float* sin(int64_t s) const { return sin_.data() + s * pairs_; }

 private:
  int64_t seq_ = 0;
  int64_t pairs_ = 0;
  std::vector<float> cos_, sin_;  // [seq, pairs]
};

// Which elements of a head turn together.
enum class RopePairs {
  kAdjacent,  // 2j and 2j + 1: Llama's, in Meta's and GGUF's weights
  kHalves,    // j and pairs + j: GPT-NeoX's
};

// Rotates pair j of every row of x [1, H, S, D] in place, for j in
// [0, angles.pairs()); elements from 2 * pairs on stay as they are.
void ApplyRope(const View4<float>& x, const RopeAngles& angles,
               RopePairs pairs = RopePairs::kAdjacent);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_ROPE_H_
