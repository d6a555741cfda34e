// One run of a model: a prompt in, text out, a step at a time.
#ifndef KVASIR_RUNTIME_GENERATION_H_
#define KVASIR_RUNTIME_GENERATION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/session.h"
#include "runtime/stop_matcher.h"
#include "sampling/sampler.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

struct GenerateOptions {
  int64_t max_tokens = 256;  // >= 0
  SamplerOptions sampler;
  std::vector<std::string> stops;  // the text ends before any of these
  bool ignore_eos = false;
  // When the context is full: the first `shift_keep` tokens and the later half of
  // the others stay, are computed anew as one text, and the generation goes on.
  // Without a value it ends.
  std::optional<int64_t> shift_keep;
};

enum class FinishReason {
  kEos,      // the model ended the text
  kLength,   // max_tokens were drawn
  kStop,     // a stop string came
  kAbort,    // Cancel was called
  kContext,  // the context is full
};

enum class StepKind { kPrefill, kToken, kDone };

struct GenerationStep {
  StepKind kind = StepKind::kPrefill;
  std::string text;                           // that became whole in this step
  std::optional<TokenId> token;               // drawn in this step
  int64_t prompt_tokens = 0;                  // of the prompt, in the cache so far
  std::optional<FinishReason> finish_reason;  // of a kDone step
};

struct GenerationTimings {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, which were in the cache already
  int64_t completion_tokens = 0;
  double time_to_first_token_ms = 0;  // from the first step's begin to the first drawn token
  int64_t prefill_tokens = 0;         // computed in chunks: what was not reused, and after shifts
  double prefill_ms = 0;
  double decode_ms = 0;  // of the tokens after the first
};

class Generation {
 public:
  // Runs `prompt` in `session`, which must outlive this, from where it differs
  // from what is cached there. INVALID_ARGUMENT for an empty prompt or an option
  // out of range, CONTEXT_OVERFLOW for a prompt that does not fit; then the
  // session is as before.
  static Result<std::unique_ptr<Generation>> Create(Session& session, std::vector<TokenId> prompt,
                                                    const GenerateOptions& options);

  // Runs one chunk of the prompt, or draws one token. After kDone: kDone again.
  Result<GenerationStep> Step();

  // The next step is the last one.
  void Cancel() { cancelled_ = true; }

  const GenerationTimings& timings() const { return timings_; }

 private:
  using Clock = std::chrono::steady_clock;

  Generation(Session& session, std::vector<TokenId> prompt, const GenerateOptions& options,
             Sampler sampler);

  Status Prefill(GenerationStep& step);
  Status DrawToken(GenerationStep& step);
  Status Shift();
  Status ComputePending();
  void Finish(FinishReason reason, GenerationStep& step);

  Session& session_;
  std::vector<TokenId> tokens_;   // prompt, then what was drawn
  std::vector<TokenId> pending_;  // to be computed, from computed_ on, before the next draw
  size_t computed_ = 0;
  GenerateOptions options_;
  Sampler sampler_;
  StreamingDetokenizer detokenizer_;
  StopMatcher stop_matcher_;
  std::vector<float> logits_;     // [vocab], after the last computed token
  bool logits_are_next_ = false;  // no token was drawn from them yet
  bool cancelled_ = false;
  std::optional<FinishReason> finish_reason_;
  std::optional<Clock::time_point> begin_;
  GenerationTimings timings_;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_GENERATION_H_
