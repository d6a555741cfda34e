// A model's weights, by their place in the forward pass.
#ifndef KVASIR_MODEL_WEIGHTS_H_
#define KVASIR_MODEL_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "kernels/weight_matrix.h"
#include "model/rope_frequencies.h"

namespace kvasir {

// Matrices are [outputs, inputs]. A bias is empty where the file has none.
struct LayerWeights {
  std::vector<float> attention_norm;  // [dim]
  WeightMatrix q, k, v;               // [q_dim, dim], [kv_dim, dim] twice
  WeightMatrix attention_output;      // [dim, q_dim]
  std::vector<float> q_bias, k_bias, v_bias, attention_output_bias;
  std::vector<float> ffn_norm;  // [dim]
  WeightMatrix gate, up;        // [ffn_dim, dim]
  WeightMatrix down;            // [dim, ffn_dim]
  std::vector<float> gate_bias, up_bias, down_bias;
};

struct Weights {
  WeightMatrix token_embedding;    // [vocab, dim]
  WeightMatrix output;             // [vocab, dim]; empty: tied to token_embedding
  std::vector<float> output_norm;  // [dim]
  std::vector<LayerWeights> layers;
  RopeFrequencies rope;

  const WeightMatrix& output_head() const { return output.empty() ? token_embedding : output; }
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_WEIGHTS_H_
