// The rotation speeds of RoPE's pairs under the scalings that stretch a model's
// context.
#ifndef KVASIR_MODEL_ROPE_FREQUENCIES_H_
#define KVASIR_MODEL_ROPE_FREQUENCIES_H_

#include <span>
#include <vector>

#include "model/config.h"

namespace kvasir {

struct RopeFrequencies {
  std::vector<float> inv_freq;  // [dims / 2], radians a position
  float magnitude = 1.0f;       // factor of cos and sin
};

// inv_freq[j] = theta^(-2j / dims), then
// - divided by divisors[j] where the file gives them (`rope_freqs.weight`, how
//   llama3 scaling is stored; empty or dims / 2 long);
// - linear: divided by factor (Chen et al., "Positional Interpolation", 2023);
// - yarn: a blend of the original (fast pairs) and the divided (slow pairs)
//   speed, and a magnitude times 1 + 0.1 ln factor (Peng et al., "YaRN", 2023).
// The magnitude is attention_factor times that, whatever the scaling.
RopeFrequencies MakeRopeFrequencies(const RopeConfig& rope, std::span<const float> divisors);

}  // namespace kvasir

#endif  // KVASIR_MODEL_ROPE_FREQUENCIES_H_
