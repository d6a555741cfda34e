// What a model is made of: the numbers that a file's metadata gives, checked.
#ifndef KVASIR_MODEL_CONFIG_H_
#define KVASIR_MODEL_CONFIG_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "format/metadata.h"

namespace kvasir {

enum class RopeScaling { kNone, kLinear, kYarn };

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
  float rms_norm_eps = 1e-5f;
  RopeConfig rope;

  int64_t q_dim() const { return heads * head_dim; }
  int64_t kv_dim() const { return kv_heads * head_dim; }
};

// Reads the keys of the file's architecture. UNSUPPORTED_MODEL for an
// architecture or a scaling that this build does not have, naming those it has;
// MALFORMED_FILE, naming the key, for a value that is missing or absurd.
Result<ModelConfig> ReadModelConfig(const Metadata& metadata);

}  // namespace kvasir

#endif  // KVASIR_MODEL_CONFIG_H_
