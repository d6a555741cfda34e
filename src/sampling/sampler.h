// Logits to a token id.
#ifndef KVASIR_SAMPLING_SAMPLER_H_
#define KVASIR_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"

namespace kvasir {

struct SamplerOptions {
  float temperature = 0.8f;         // >= 0; 0 is greedy: the largest logit, lowest id on a tie
  int32_t top_k = 40;               // 0: off
  float top_p = 0.95f;              // (0, 1]; 1: off
  float min_p = 0.05f;              // [0, 1]; 0: off
  float repetition_penalty = 1.0f;  // > 0; 1: off
  float frequency_penalty = 0.0f;   // per occurrence; 0: off
  float presence_penalty = 0.0f;    // once; 0: off
  int32_t penalty_window = 64;      // last tokens that count; 0: none, -1: all
  std::vector<std::pair<int32_t, float>> logit_bias;  // token id, added; -inf forbids
  uint64_t seed = 0;
};

// The order is: logit bias, penalties, temperature 0 -> arg max; else top-k,
// softmax at the temperature, top-p, min-p, draw. The same seed, options and
// logits give the same tokens on every machine and in every build.
class Sampler {
 public:
  // INVALID_ARGUMENT, naming the option, for a value out of range or a biased
  // id outside [0, vocab_size).
  static Result<Sampler> Create(const SamplerOptions& options, int32_t vocab_size);

  // `logits` [vocab_size], changed in place; `history` the tokens so far,
  // prompt included, newest last. Non-finite logits are never drawn while a
  // finite one exists; with none, id 0.
  int32_t Sample(std::span<float> logits, std::span<const int32_t> history);

 private:
  explicit Sampler(const SamplerOptions& options);

  void ApplyPenalties(std::span<float> logits, std::span<const int32_t> history);
  void CollectCandidates(std::span<const float> logits, size_t count);
  void WeighCandidates();
  int32_t Draw();

  SamplerOptions options_;
  uint64_t random_state_;
  std::vector<std::pair<double, int32_t>> candidates_;  // scratch: logit or weight, id
  std::vector<int32_t> counts_;                         // scratch: occurrences per token
};

}  // namespace kvasir

#endif  // KVASIR_SAMPLING_SAMPLER_H_
