// A model's weights, by their place in the forward pass.
#ifndef KVASIR_MODEL_WEIGHTS_H_
#define KVASIR_MODEL_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "kernels/weight_matrix.h"
#include "model/rope_frequencies.h"

namespace kvasir {

// Matrices are [outputs, inputs]. A norm or a bias is empty where the architecture
// has none.
struct LayerWeights {
  std::vector<float> attention_norm;  // [dim], of the input
  WeightMatrix q, k, v;               // [q_dim, dim], [kv_dim, dim] twice
  std::vector<float> q_norm, k_norm;  // of each head, [head_dim], or of all, [q_dim] and [kv_dim]
  WeightMatrix attention_output;      // [dim, q_dim]
  std::vector<float> q_bias, k_bias, v_bias, attention_output_bias;
  std::vector<float> attention_post_norm;  // [dim], of what attention adds
  std::vector<float> ffn_norm;             // [dim], of the input
  WeightMatrix gate, up;                   // [ffn_dim, dim]
  WeightMatrix down;                       // [dim, ffn_dim]
  std::vector<float> gate_bias, up_bias, down_bias;
  WeightMatrix router;                               // [experts, dim]
  std::vector<WeightMatrix> expert_gate, expert_up;  // [expert_ffn_dim, dim] each
  std::vector<WeightMatrix> expert_down;             // [dim, expert_ffn_dim] each
  std::vector<float> ffn_post_norm;                  // [dim], of what the feed-forward adds
};

struct Weights {
  WeightMatrix token_embedding;    // [vocab, dim]
  WeightMatrix output;             // [vocab, dim]; empty: tied to token_embedding
  std::vector<float> output_norm;  // [dim]
  std::vector<LayerWeights> layers;
  RopeFrequencies rope;
  RopeFrequencies long_rope;     // for contexts beyond the original, where it is another
  RopeFrequencies sliding_rope;  // of the sliding layers, where it is another

  const WeightMatrix& output_head() const { return output.empty() ? token_embedding : output; }
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_WEIGHTS_H_
