#include "sampling/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>

namespace kvasir {
namespace {

// 1 / n!, highest first: the Taylor series of e^x to x^13.
constexpr std::array<double, 14> kInverseFactorials = {1.0 / 6227020800.0,
                                                       1.0 / 479001600.0,
                                                       1.0 / 39916800.0,
                                                       1.0 / 3628800.0,
                                                       1.0 / 362880.0,
                                                       1.0 / 40320.0,
                                                       1.0 / 5040.0,
                                                       1.0 / 720.0,
                                                       1.0 / 120.0,
                                                       1.0 / 24.0,
                                                       1.0 / 6.0,
                                                       1.0 / 2.0,
                                                       1.0,
                                                       1.0};

// e^x for x <= 0 in plain double arithmetic: the same bits on every machine,
// which a C library's exp does not promise. 0 below -700.
double PortableExp(double x) {
  if (x < -700.0) return 0.0;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // leading bits of ln 2
  constexpr double kLn2Low = 1.90821492927058770002e-10;   // the rest
  const double n = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 0.0;
  for (double coefficient : kInverseFactorials) series = series * r + coefficient;
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
      return OutOfRange("a token id of logitBias", "in 0.." + std::to_string(vocab_size - 1) +
                                                       ", is " + std::to_string(token));
    }
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return OutOfRange("logitBias of token " + std::to_string(token), "a number or -Infinity");
    }
  }
  std::set<int32_t> forbidden;
  for (const auto& [token, bias] : o.logit_bias) {
    if (bias == -std::numeric_limits<float>::infinity()) forbidden.insert(token);
  }
  if (static_cast<int64_t>(forbidden.size()) == vocab_size) {
    return InvalidArgument("logitBias forbids every token of the vocabulary; leave one");
  }
  return Status();
}

// Larger first, lower ids first among equals.
template <class T>
bool Likelier(const std::pair<T, int32_t>& a, const std::pair<T, int32_t>& b) {
  return a.first > b.first || (a.first == b.first && a.second < b.second);
}

template <class T>
bool LessLikely(const std::pair<T, int32_t>& a, const std::pair<T, int32_t>& b) {
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
  const bool greedy = options_.temperature == 0;
  CollectCandidates(logits, greedy ? 1 : static_cast<size_t>(options_.top_k));
  if (candidates_.empty()) return 0;
  if (greedy) return candidates_.front().second;
  WeighCandidates();
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

// The `count` likeliest tokens of finite logits in order, or all (0) by id. Keeps
// at most twice as many, and of those that come later only what can be among them.
// Sorted, since how nth_element leaves them differs between standard libraries.
void Sampler::CollectCandidates(std::span<const float> logits, size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const size_t keep = count == 0 ? logits.size() : std::min(count, logits.size());
  const auto reduce = [&] {
    if (candidates_.size() <= keep) return;
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(keep - 1);
    std::nth_element(candidates_.begin(), last, candidates_.end(), Likelier<double>);
    candidates_.resize(keep);
  };
  candidates_.clear();
  float threshold = -kInfinity;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > threshold && logits[i] < kInfinity)) continue;  // NaN fails too
    candidates_.emplace_back(logits[i], static_cast<int32_t>(i));
    if (candidates_.size() == 2 * keep) {
      reduce();
      threshold = static_cast<float>(candidates_.back().first);
    }
  }
  reduce();
  if (count > 0) std::sort(candidates_.begin(), candidates_.end(), Likelier<double>);
}

// Turns the candidates' logits into weights, of which the largest is 1, and
// leaves those that top-p and min-p let pass. Both keep the likeliest of a list
// in order, so it does not matter which is applied first; but top-p is a part of
// the whole, what min-p drops included.
void Sampler::WeighCandidates() {
  const double temperature = options_.temperature;
  const double largest =
      std::min_element(candidates_.begin(), candidates_.end(), Likelier<double>)->first;
  double total = 0;
  for (auto& candidate : candidates_) {
    candidate.first = PortableExp((candidate.first - largest) / temperature);
    total += candidate.first;
  }
  const double min_p = options_.min_p;
  std::erase_if(candidates_, [min_p](const auto& candidate) { return candidate.first < min_p; });
  if (options_.top_p == 1) return;

  // A heap gives the likeliest one by one; what was taken lies behind it.
  std::make_heap(candidates_.begin(), candidates_.end(), LessLikely<double>);
  auto heap_end = candidates_.end();
  double taken = 0;
  while (heap_end != candidates_.begin() && taken < options_.top_p * total) {
    taken += candidates_.front().first;
    std::pop_heap(candidates_.begin(), heap_end, LessLikely<double>);
    --heap_end;
  }
  candidates_.erase(candidates_.begin(), heap_end);
}

int32_t Sampler::Draw() {
  double total = 0;
  for (const auto& candidate : candidates_) total += candidate.first;
  double rest = NextUniform(random_state_) * total;
  for (const auto& candidate : candidates_) {
    rest -= candidate.first;
    if (rest < 0) return candidate.second;
  }
  return candidates_.back().second;
}

}  // namespace kvasir
