// What a model is made of: the numbers that a file's metadata gives, checked.
#ifndef KVASIR_MODEL_CONFIG_H_
#define KVASIR_MODEL_CONFIG_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "format/metadata.h"
#include "kernels/rope.h"

namespace kvasir {

enum class RopeScaling {
  kNone,
  kLinear,
  kYarn,
  kLong,  // LongRoPE: two lists of divisors, one for contexts beyond the original
};

// See model/rope_frequencies.h for what the numbers do.
struct RopeConfig {
  int64_t dims = 0;  // leading elements of a head that rotate; even, <= head_dim
  double theta = 10000.0;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1.0;
  int64_t original_context_length = 0;
  double attention_factor = 1.0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
};

// The nonlinearity of the feed-forward's gate: SwiGLU or GeGLU.
enum class Activation { kSilu, kGelu };

struct ModelConfig {
  std::string architecture;
  int64_t vocab_size = 0;
  int64_t context_length = 0;  // what the model was trained for
  int64_t dim = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads
  int64_t head_dim = 0;
  int64_t ffn_dim = 0;
  int64_t experts = 0;       // 0: one feed-forward for all
  int64_t experts_used = 0;  // by each token; at most experts
  int64_t expert_ffn_dim = 0;
  float rms_norm_eps = 1e-5f;
  Activation activation = Activation::kSilu;

  RopeConfig rope;
  std::optional<RopeConfig> sliding_rope;  // of the sliding layers, where it is another
  RopePairs rope_pairs = RopePairs::kAdjacent;
  int64_t rope_period = 0;  // > 0: of so many layers the last does not rotate

  // > 0: a query of a sliding layer sees so many positions, its own among them.
  int64_t sliding_window = 0;
  int64_t sliding_period = 0;  // of so many layers the last sees all; 0: every layer slides

  float attention_scale = 0;     // of q k^T; 0: 1 / sqrt(head_dim)
  float attention_soft_cap = 0;  // > 0: of the scaled scores
  float embedding_scale = 1;
  float residual_scale = 1;  // of what a block adds to the residual stream
  float logit_divisor = 1;
  float logit_soft_cap = 0;  // > 0

  int64_t q_dim() const { return heads * head_dim; }
  int64_t kv_dim() const { return kv_heads * head_dim; }
  float scale() const {
    return attention_scale > 0 ? attention_scale : 1.0f / std::sqrt(static_cast<float>(head_dim));
  }
  bool Slides(int64_t layer) const {
    return sliding_window > 0 && (sliding_period == 0 || (layer + 1) % sliding_period != 0);
  }
  bool Rotates(int64_t layer) const { return rope_period == 0 || (layer + 1) % rope_period != 0; }
};

// Reads the keys of the file's architecture. UNSUPPORTED_MODEL for an
// architecture or a scaling that this build does not have, naming those it has;
// MALFORMED_FILE, naming the key, for a value that is missing or absurd.
Result<ModelConfig> ReadModelConfig(const Metadata& metadata);

}  // namespace kvasir

#endif  // KVASIR_MODEL_CONFIG_H_
