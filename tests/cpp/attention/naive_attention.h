// Attention by its definition, in double precision: the oracle of the tests.
#ifndef KVASIR_TESTS_CPP_ATTENTION_NAIVE_ATTENTION_H_
#define KVASIR_TESTS_CPP_ATTENTION_NAIVE_ATTENTION_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/sdpa.h"

namespace kvasir {

// q [H_q, S, D], k and v [H_kv, S_kv, D], all dense. Returns [H_q, S, D].
struct NaiveAttention {
  int64_t query_heads, kv_heads, seq, kv_seq, dim;
  double scale = 1.0;
  double soft_cap = 0.0;
  MaskRule mask;

  bool Sees(int64_t head, int64_t row, int64_t key) const {
    const int64_t position = mask.start + row;
    if (mask.causal && key > position) return false;
    const bool in_sink = mask.window > 0 && key < mask.sink;
    if (mask.window > 0 && key <= position - mask.window && !in_sink) return false;
    if (mask.visible.data != nullptr && mask.visible.Row(head, row)[key] == 0) return false;
    if (mask.ranges.empty()) return true;
    const KeyRange& range = mask.ranges[static_cast<size_t>(row)];
    return key >= range.begin && key < range.end;
  }

  std::vector<double> Run(const std::vector<float>& q, const std::vector<float>& k,
                          const std::vector<float>& v) const {
    std::vector<double> out(q.size(), 0.0);
    const int64_t group = query_heads / kv_heads;
    for (int64_t h = 0; h < query_heads; ++h) {
      for (int64_t r = 0; r < seq; ++r) {
        std::vector<double> scores(static_cast<size_t>(kv_seq));
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t s = 0; s < kv_seq; ++s) {
          double dot = 0;
          for (int64_t d = 0; d < dim; ++d) {
            dot += static_cast<double>(q[At(h, r, seq, d)]) * k[At(h / group, s, kv_seq, d)];
          }
          double score = dot * scale;
          if (soft_cap > 0) score = soft_cap * std::tanh(score / soft_cap);
          if (mask.bias.data != nullptr) score += mask.bias.Row(h, r)[s];
          if (!Sees(h, r, s)) score = -std::numeric_limits<double>::infinity();
          scores[static_cast<size_t>(s)] = score;
          largest = std::max(largest, score);
        }
        if (largest == -std::numeric_limits<double>::infinity()) continue;
        double total = 0;
        for (double& score : scores) total += score = std::exp(score - largest);
        for (int64_t s = 0; s < kv_seq; ++s) {
          const double weight = scores[static_cast<size_t>(s)] / total;
          for (int64_t d = 0; d < dim; ++d) {
            out[At(h, r, seq, d)] += weight * v[At(h / group, s, kv_seq, d)];
          }
        }
      }
    }
    return out;
  }

  size_t At(int64_t head, int64_t row, int64_t rows, int64_t d) const {
    return static_cast<size_t>((head * rows + row) * dim + d);
  }
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_ATTENTION_NAIVE_ATTENTION_H_
