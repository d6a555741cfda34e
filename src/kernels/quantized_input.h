// Activations as the packed weights meet them: 8-bit integers in blocks of 32
// with a scale each.
#ifndef KVASIR_KERNELS_QUANTIZED_INPUT_H_
#define KVASIR_KERNELS_QUANTIZED_INPUT_H_

#include <cstdint>
#include <type_traits>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "simd/byte_dot.h"

namespace kvasir {

// Values that share a scale; halves of them have a sum each.
inline constexpr int64_t kInputBlock = 32;

// What is quantized once and multiplied with every matrix that takes it.
class QuantizedInput {
 public:
  // 8 bits wide in value; kept in 16 where the products are made of those.
  using Element = std::conditional_t<kDotsBytes, int8_t, int16_t>;

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

  // Of row i: [cols], [blocks], [blocks, 2].
  const Element* Row(int64_t i) const { return elements_ + i * blocks_ * kInputBlock; }
  const float* Scales(int64_t i) const { return scales_ + i * blocks_; }
  const int32_t* HalfSums(int64_t i) const { return sums_ + i * blocks_ * 2; }

 private:
  void QuantizeRow(int64_t i);

  AlignedBuffer memory_;
  int64_t max_rows_ = 0, max_blocks_ = 0;
  Element* elements_ = nullptr;
  float* scales_ = nullptr;
  int32_t* sums_ = nullptr;
  const float* values_ = nullptr;
  int64_t rows_ = 0, cols_ = 0, blocks_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_QUANTIZED_INPUT_H_
