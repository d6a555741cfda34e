// Activations as the packed weights meet them: 8-bit integers in blocks of 32
// with a scale each.
#ifndef KVASIR_KERNELS_QUANTIZED_INPUT_H_
#define KVASIR_KERNELS_QUANTIZED_INPUT_H_

#include <algorithm>
#include <cstdint>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"

namespace kvasir {

// Values that share a scale.
inline constexpr int64_t kInputBlock = 32;

// Rows that a tile of weights is multiplied with at once. Of seven sizes from 4 to
// 16, 8 was the fastest: see docs/performance.md.
inline constexpr int64_t kPanelRows = 8;

// 32 values: scale * q.
struct InputBlock {
  int8_t q[kInputBlock];
  float scale;
  float negated_sum;  // -scale * (sum of q)
  // What a weight's offset takes away, before it is multiplied with the offset:
  // minus the sums of the q at places 0 and 1 of each four, and at places 2 and 3;
  // of all of them, and of the first 16.
  int16_t negated_pairs[2];
  int16_t negated_first_pairs[2];
};
static_assert(sizeof(InputBlock) == 48);

// The q of a block again, as the 16 bits that some sums are made of: widening them
// for every group of rows costs more than reading them.
struct InputWords {
  int16_t q[kInputBlock];
};

// Some rows of an input, [block, row].
struct InputPanel {
  const InputBlock* blocks;
  const InputWords* words;
  int64_t rows;
};

// What is quantized once and multiplied with every matrix that takes it. Rows lie
// in panels of kPanelRows, the last of which may be smaller: [panel, block, row].
class QuantizedInput {
 public:
  // Room for `max_rows` rows of at most `max_cols` values.
  static Result<QuantizedInput> Create(int64_t max_rows, int64_t max_cols);

  // Takes x, dense [n, cols]: scale = largest |x| of the block / 127, q = round(x /
  // scale), half away from zero as ggml does. Columns beyond the last whole
  // block are not taken. x stays in use until the next Set.
  void Set(const float* x, int64_t n, int64_t cols, ThreadPool& pool);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t blocks() const { return blocks_; }
  const float* values() const { return values_; }  // x itself

  // The panel that begins with row `first`.
  InputPanel Panel(int64_t first) const {
    return {data_ + first * blocks_, words_ + first * blocks_, std::min(kPanelRows, rows_ - first)};
  }

 private:
  void QuantizeRow(int64_t i);

  AlignedBuffer memory_;
  int64_t max_rows_ = 0, max_blocks_ = 0;
  InputBlock* data_ = nullptr;
  InputWords* words_ = nullptr;
  const float* values_ = nullptr;
  int64_t rows_ = 0, cols_ = 0, blocks_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_QUANTIZED_INPUT_H_
