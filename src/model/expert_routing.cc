#include "model/expert_routing.h"

#include <algorithm>
#include <cmath>

namespace kvasir {
namespace {

// The largest logit's expert that is not among `taken`.
int64_t BestOf(const float* logits, int64_t experts, std::span<const int64_t> taken) {
  int64_t best = -1;
  for (int64_t e = 0; e < experts; ++e) {
    if (std::find(taken.begin(), taken.end(), e) != taken.end()) continue;
    if (best < 0 || logits[e] > logits[best]) best = e;
  }
  return best;
}

}  // namespace

void ExpertRouting::Choose(const float* logits, int64_t rows, int64_t experts, int64_t used) {
  const size_t k = static_cast<size_t>(used), count = static_cast<size_t>(rows) * k;
  chosen_.resize(count);
  weights_.resize(count);
  by_expert_.resize(count);
  first_.assign(static_cast<size_t>(experts) + 1, 0);
  for (int64_t row = 0; row < rows; ++row, logits += experts) {
    int64_t* chosen = chosen_.data() + row * used;
    float* weights = weights_.data() + row * used;
    float total = 0;
    for (size_t i = 0; i < k; ++i) {
      chosen[i] = BestOf(logits, experts, {chosen, i});
      weights[i] = std::exp(logits[chosen[i]] - logits[chosen[0]]);
      total += weights[i];
      first_[static_cast<size_t>(chosen[i]) + 1] += 1;
    }
    for (size_t i = 0; i < k; ++i) weights[i] /= total;
  }
  for (size_t e = 1; e < first_.size(); ++e) first_[e] += first_[e - 1];
  next_.assign(first_.begin(), first_.end());
  for (size_t i = 0; i < count; ++i) {
    by_expert_[next_[static_cast<size_t>(chosen_[i])]++] = {static_cast<int64_t>(i / k),
                                                            weights_[i]};
  }
}

}  // namespace kvasir
