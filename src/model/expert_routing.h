// Which experts each row of a chunk goes to.
#ifndef KVASIR_MODEL_EXPERT_ROUTING_H_
#define KVASIR_MODEL_EXPERT_ROUTING_H_

#include <cstdint>
#include <span>
#include <vector>

namespace kvasir {

struct RoutedRow {
  int64_t row;
  float weight;
};

// Each row goes to the `used` experts of the largest logits, with the softmax of
// those as weights: the softmax of all, of which the largest are kept and
// normalised. Of equal logits the first wins. Source: Jiang et al., "Mixtral of
// Experts", 2024.
class ExpertRouting {
 public:
  // logits [rows, experts], used in [1, experts]. Reuses its memory.
  void Choose(const float* logits, int64_t rows, int64_t experts, int64_t used);

  // In ascending order.
  std::span<const RoutedRow> RowsOf(int64_t expert) const {
    const size_t e = static_cast<size_t>(expert);
    return std::span(by_expert_).subspan(first_[e], first_[e + 1] - first_[e]);
  }

 private:
  std::vector<int64_t> chosen_;  // [rows, used]
  std::vector<float> weights_;   // [rows, used]
  std::vector<size_t> first_;    // of each expert's rows, and their end
  std::vector<size_t> next_;
  std::vector<RoutedRow> by_expert_;
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_EXPERT_ROUTING_H_
