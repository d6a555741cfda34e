#include "model/rope_frequencies.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace kvasir {
namespace {

// The pair index at which a wave turns `rotations` times within the original
// context.
double PairOfRotations(const RopeConfig& rope, double rotations) {
  const double context = static_cast<double>(rope.original_context_length);
  return static_cast<double>(rope.dims) * std::log(context / (rotations * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(rope.theta));
}

// 1 for pairs that turn fast enough to keep their speed, 0 for those that are
// slowed down by the whole factor.
double YarnKeep(const RopeConfig& rope, double pair) {
  const double low = std::max(0.0, std::floor(PairOfRotations(rope, rope.beta_fast)));
  const double high = std::min(static_cast<double>(rope.dims - 1),
                               std::ceil(PairOfRotations(rope, rope.beta_slow)));
  const double ramp = (pair - low) / std::max(0.001, high - low);
  return 1.0 - std::clamp(ramp, 0.0, 1.0);
}

}  // namespace

RopeFrequencies MakeRopeFrequencies(const RopeConfig& rope, std::span<const float> divisors) {
  const int64_t pairs = rope.dims / 2;
  assert(divisors.empty() || static_cast<int64_t>(divisors.size()) == pairs);
  RopeFrequencies frequencies;
  frequencies.inv_freq.resize(static_cast<size_t>(pairs));
  for (int64_t j = 0; j < pairs; ++j) {
    double speed =
        std::pow(rope.theta, -2.0 * static_cast<double>(j) / static_cast<double>(rope.dims));
    if (!divisors.empty()) speed /= divisors[static_cast<size_t>(j)];
    if (rope.scaling == RopeScaling::kLinear) speed /= rope.factor;
    if (rope.scaling == RopeScaling::kYarn) {
      const double keep = YarnKeep(rope, static_cast<double>(j));
      speed = keep * speed + (1.0 - keep) * speed / rope.factor;
    }
    frequencies.inv_freq[static_cast<size_t>(j)] = static_cast<float>(speed);
  }
  const bool yarn = rope.scaling == RopeScaling::kYarn;
  const double magnitude = yarn ? 1.0 + 0.1 * std::log(rope.factor) : 1.0;
  frequencies.magnitude = static_cast<float>(rope.attention_factor * magnitude);
  return frequencies;
}

}  // namespace kvasir
