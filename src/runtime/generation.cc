#include "runtime/generation.h"

#include <algorithm>
#include <span>
#include <utility>

namespace kvasir {
namespace {

double Milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// What a shift needs beside the tokens it keeps: a token and one that follows it.
constexpr int64_t kShiftRoom = 2;

}  // namespace

Result<std::unique_ptr<Generation>> Generation::Create(Session& session,
                                                       std::vector<TokenId> prompt,
                                                       const GenerateOptions& options) {
  if (prompt.empty()) {
    return InvalidArgument(
        "the prompt has no tokens; this vocabulary adds no BOS, so give it some text");
  }
  if (static_cast<int64_t>(prompt.size()) > session.capacity()) {
    return ContextOverflow("the prompt has " + std::to_string(prompt.size()) +
                           " tokens, the context holds " + std::to_string(session.capacity()) +
                           "; shorten the prompt or load the model with a longer context");
  }
  if (options.max_tokens < 0) return InvalidArgument("maxTokens must not be negative");
  const int64_t vocab = session.model().config().vocab_size;
  for (TokenId token : prompt) {
    if (token < 0 || token >= vocab) {
      return InvalidArgument("token " + std::to_string(token) + " is not in the vocabulary of " +
                             std::to_string(vocab));
    }
  }
  Result<Sampler> sampler = Sampler::Create(options.sampler, static_cast<int32_t>(vocab));
  if (!sampler.ok()) return sampler.status();
  if (options.shift_keep &&
      (*options.shift_keep < 0 || *options.shift_keep > session.capacity() - kShiftRoom)) {
    return InvalidArgument("of a context of " + std::to_string(session.capacity()) +
                           " tokens, 0.." + std::to_string(session.capacity() - kShiftRoom) +
                           " can be kept in a shift, not " + std::to_string(*options.shift_keep));
  }
  return std::unique_ptr<Generation>(
      new Generation(session, std::move(prompt), options, *std::move(sampler)));
}

Generation::Generation(Session& session, std::vector<TokenId> prompt,
                       const GenerateOptions& options, Sampler sampler)
    : session_(session),
      tokens_(std::move(prompt)),
      options_(options),
      sampler_(std::move(sampler)),
      // After BOS or the marker of a turn a text begins.
      detokenizer_(session.model().tokenizer(),
                   session.model().tokenizer().IsSpecial(tokens_.back())),
      stop_matcher_(options.stops),
      logits_(static_cast<size_t>(session.model().config().vocab_size)) {
  timings_.prompt_tokens = static_cast<int64_t>(tokens_.size());
  timings_.reused_tokens = session_.KeepPrefixOf(tokens_);
  pending_.assign(tokens_.begin() + timings_.reused_tokens, tokens_.end());
}

Result<GenerationStep> Generation::Step() {
  GenerationStep step;
  if (!begin_.has_value()) begin_ = Clock::now();
  if (finish_reason_.has_value()) {
    step.kind = StepKind::kDone;
    step.finish_reason = finish_reason_;
  } else if (cancelled_) {
    Finish(FinishReason::kAbort, step);
  } else if (!pending_.empty()) {
    if (Status status = Prefill(step); !status.ok()) return status;
  } else {
    if (Status status = DrawToken(step); !status.ok()) return status;
  }
  step.prompt_tokens =
      timings_.completion_tokens > 0
          ? timings_.prompt_tokens
          : timings_.prompt_tokens - static_cast<int64_t>(pending_.size() - computed_);
  return step;
}

// Runs the next chunk of what is pending; after the last one the logits are
// those of its last token.
Status Generation::ComputePending() {
  const size_t count =
      std::min(pending_.size() - computed_, static_cast<size_t>(session_.prefill_chunk()));
  const bool last = computed_ + count == pending_.size();
  const Status status = session_.Append(std::span(pending_).subspan(computed_, count),
                                        last ? LogitRows::kLast : LogitRows::kNone, logits_);
  if (!status.ok()) return status;
  computed_ += count;
  if (last) {
    pending_.clear();
    computed_ = 0;
    logits_are_next_ = true;
  }
  return Status();
}

Status Generation::Prefill(GenerationStep& step) {
  const Clock::time_point start = Clock::now();
  const int64_t before = session_.length();
  if (Status status = ComputePending(); !status.ok()) return status;
  step.kind = StepKind::kPrefill;
  timings_.prefill_tokens += session_.length() - before;
  timings_.prefill_ms += Milliseconds(Clock::now() - start);
  return Status();
}

// Makes room in a full session. The tokens that stay are computed anew, so that
// what follows is as if the text had begun with them.
Status Generation::Shift() {
  const std::span<const TokenId> cached = session_.tokens();
  const size_t kept = static_cast<size_t>(*options_.shift_keep);
  const size_t later_half = (cached.size() - kept) / 2;
  pending_.assign(cached.end() - static_cast<std::ptrdiff_t>(later_half), cached.end());
  pending_.push_back(tokens_.back());
  return session_.Truncate(*options_.shift_keep);
}

Status Generation::DrawToken(GenerationStep& step) {
  if (timings_.completion_tokens >= options_.max_tokens) {
    Finish(FinishReason::kLength, step);
    return Status();
  }
  const Clock::time_point start = Clock::now();
  const bool first = timings_.completion_tokens == 0;
  if (!logits_are_next_) {
    if (session_.length() >= session_.capacity()) {
      if (!options_.shift_keep.has_value()) {
        Finish(FinishReason::kContext, step);
        return Status();
      }
      if (Status status = Shift(); !status.ok()) return status;
      return Prefill(step);
    }
    pending_ = {tokens_.back()};
    if (Status status = ComputePending(); !status.ok()) return status;
  }
  logits_are_next_ = false;
  const TokenId token = sampler_.Sample(logits_, tokens_);
  const Clock::time_point now = Clock::now();
  if (first) {
    timings_.time_to_first_token_ms = Milliseconds(now - *begin_);
  } else {
    timings_.decode_ms += Milliseconds(now - start);
  }
  if (!options_.ignore_eos && session_.model().tokenizer().IsEndOfGeneration(token)) {
    Finish(FinishReason::kEos, step);
    return Status();
  }
  tokens_.push_back(token);
  timings_.completion_tokens += 1;
  step.kind = StepKind::kToken;
  step.token = token;
  step.text = stop_matcher_.Push(detokenizer_.Push(token));
  if (stop_matcher_.stopped()) Finish(FinishReason::kStop, step);
  return Status();
}

void Generation::Finish(FinishReason reason, GenerationStep& step) {
  step.kind = StepKind::kDone;
  step.finish_reason = reason;
  finish_reason_ = reason;
  if (reason != FinishReason::kStop) {
    step.text += stop_matcher_.Push(detokenizer_.Flush());
    step.text += stop_matcher_.Flush();
  }
}

}  // namespace kvasir
