#include "sampling/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace kvasir {
namespace {

// e^x for x <= 0 in plain double arithmetic: the same bits on every machine,
// which a C library's exp does not promise. 0 below -700.
double PortableExp(double x) {
  if (x < -700.0) return 0.0;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // leading bits of ln 2
  constexpr double kLn2Low = 1.90821492927058770002e-10;   // the rest
  const double n = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 1.0;
  for (int term = 13; term >= 1; --term) series = 1.0 + series * r / term;
  const uint64_t power = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  return series * std::bit_cast<double>(power);
}

// Uniform in [0, 1). Source: Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators" (SplitMix64), 2014.
double NextUniform(uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

Status OutOfRange(std::string_view option, std::string_view range) {
  return InvalidArgument(std::string(option) + " must be " + std::string(range));
}

Status Check(const SamplerOptions& o, int32_t vocab_size) {
  // Comparisons are written so that NaN fails them.
  if (!(o.temperature >= 0) || std::isinf(o.temperature)) {
    return OutOfRange("temperature", "a number of at least 0");
  }
  if (o.top_k < 0) return OutOfRange("topK", "at least 0 (0: off)");
  if (!(o.top_p > 0 && o.top_p <= 1)) return OutOfRange("topP", "above 0 and at most 1");
  if (!(o.min_p >= 0 && o.min_p <= 1)) return OutOfRange("minP", "in 0..1");
  if (!(o.repetition_penalty > 0) || std::isinf(o.repetition_penalty)) {
    return OutOfRange("repetitionPenalty", "a number above 0 (1: off)");
  }
  if (!std::isfinite(o.frequency_penalty)) return OutOfRange("frequencyPenalty", "a number");
  if (!std::isfinite(o.presence_penalty)) return OutOfRange("presencePenalty", "a number");
  if (o.penalty_window < -1) return OutOfRange("penaltyWindow", "at least -1 (-1: all tokens)");
  for (const auto& [token, bias] : o.logit_bias) {
    if (token < 0 || token >= vocab_size) {
      return OutOfRange("a token id of logitBias",
                        "in 0.." + std::to_string(vocab_size - 1) + ", is " +
                            std::to_string(token));
    }
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return OutOfRange("logitBias of token " + std::to_string(token),
                        "a number or -Infinity");
    }
  }
  return Status();
}

// Larger logits first, lower ids first among equals.
bool Likelier(const std::pair<float, int32_t>& a, const std::pair<float, int32_t>& b) {
  return a.first > b.first || (a.first == b.first && a.second < b.second);
}

bool LessLikely(const std::pair<float, int32_t>& a, const std::pair<float, int32_t>& b) {
  return Likelier(b, a);
}

}  // namespace

Result<Sampler> Sampler::Create(const SamplerOptions& options, int32_t vocab_size) {
  if (Status status = Check(options, vocab_size); !status.ok()) return status;
  return Sampler(options);
}

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_state_(options.seed) {}

int32_t Sampler::Sample(std::span<float> logits, std::span<const int32_t> history) {
  for (const auto& [token, bias] : options_.logit_bias) {
    if (static_cast<size_t>(token) < logits.size()) logits[static_cast<size_t>(token)] += bias;
  }
  ApplyPenalties(logits, history);
  CollectCandidates(logits);
  if (candidates_.empty()) return 0;
  if (options_.temperature == 0) {
    return std::min_element(candidates_.begin(), candidates_.end(), Likelier)->second;
  }
  const size_t top_k = static_cast<size_t>(options_.top_k);
  if (top_k > 0 && top_k < candidates_.size()) {
    std::nth_element(candidates_.begin(),
                     candidates_.begin() + static_cast<std::ptrdiff_t>(top_k), candidates_.end(),
                     Likelier);
    candidates_.resize(top_k);
  }
  return Draw();
}

void Sampler::ApplyPenalties(std::span<float> logits, std::span<const int32_t> history) {
  if (options_.repetition_penalty == 1 && options_.frequency_penalty == 0 &&
      options_.presence_penalty == 0) {
    return;
  }
  if (options_.penalty_window >= 0) {
    const size_t window = static_cast<size_t>(options_.penalty_window);
    history = history.last(std::min(window, history.size()));
  }
  counts_.resize(logits.size());
  for (int32_t token : history) {
    if (static_cast<size_t>(token) < logits.size()) ++counts_[static_cast<size_t>(token)];
  }
  for (int32_t token : history) {
    const size_t i = static_cast<size_t>(token);
    if (i >= logits.size() || counts_[i] == 0) continue;  // unknown, or done already
    float& logit = logits[i];
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    logit -= static_cast<float>(counts_[i]) * options_.frequency_penalty;
    logit -= options_.presence_penalty;
    counts_[i] = 0;
  }
}

void Sampler::CollectCandidates(std::span<const float> logits) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) candidates_.emplace_back(logits[i], static_cast<int32_t>(i));
  }
}

// Takes the likeliest candidates one by one, by a heap, until top-p or min-p
// ends the list, and draws from those.
int32_t Sampler::Draw() {
  const double temperature = options_.temperature;
  const double largest =
      std::min_element(candidates_.begin(), candidates_.end(), Likelier)->first;
  const auto weight = [&](float logit) { return PortableExp((logit - largest) / temperature); };
  double total = 0;
  for (const auto& candidate : candidates_) total += weight(candidate.first);

  std::make_heap(candidates_.begin(), candidates_.end(), LessLikely);
  auto end = candidates_.end();  // what was taken lies from here on, likeliest last
  double taken = 0;
  while (end != candidates_.begin() && taken < options_.top_p * total) {
    const double next = weight(candidates_.front().first);
    if (taken > 0 && next < options_.min_p) break;
    std::pop_heap(candidates_.begin(), end, LessLikely);
    --end;
    taken += next;
  }

  double rest = NextUniform(random_state_) * taken;
  for (auto drawn = candidates_.end(); drawn != end;) {
    --drawn;
    rest -= weight(drawn->first);
    if (rest < 0) return drawn->second;
  }
  return end->second;
}

}  // namespace kvasir
