// A weight matrix in the form that the products read fastest: quantized types
// packed in groups of rows, the others as they stand in the file.
#ifndef KVASIR_KERNELS_WEIGHT_MATRIX_H_
#define KVASIR_KERNELS_WEIGHT_MATRIX_H_

#include <cstdint>
#include <span>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/tensor_type.h"
#include "kernels/matrix.h"

namespace kvasir {

// [rows, cols]. Immutable.
class WeightMatrix {
 public:
  WeightMatrix() = default;

  TensorType type() const { return type_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  size_t bytes() const { return packed_ ? data_.size() : plain_.bytes(); }
  bool empty() const { return rows_ == 0; }

  // Row r, as floats, to out [cols]: an embedding look-up.
  void DequantizeRow(int64_t r, float* out) const;

  // For kernels: either packed data or a plain matrix.
  bool packed() const { return packed_; }
  const uint8_t* data() const { return data_.data(); }
  const Matrix& plain() const { return plain_; }
  // Whether a signed weight is -128, whose magnitude is no i7.
  bool has_lowest() const { return has_lowest_; }

 private:
  friend class WeightMatrixBuilder;

  TensorType type_ = TensorType::kF32;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  bool packed_ = false;
  bool has_lowest_ = false;
  AlignedBuffer data_;
  Matrix plain_;
};

// Takes a tensor's bytes as they stand in the file and packs them in the same
// memory, so that no tensor is there twice.
class WeightMatrixBuilder {
 public:
  WeightMatrixBuilder() = default;

  // INVALID_ARGUMENT when cols is not a multiple of the type's block or the size
  // overflows, UNSUPPORTED_MODEL for a type without kernels, OUT_OF_MEMORY.
  static Result<WeightMatrixBuilder> Create(TensorType type, int64_t rows, int64_t cols);

  // Where the file's bytes belong: rows * RowBytes(type, cols) of them.
  std::span<uint8_t> raw() { return memory_.bytes().subspan(raw_offset_); }

  // All bytes are there. Once.
  Result<WeightMatrix> Finish();

 private:
  TensorType type_ = TensorType::kF32;
  int64_t rows_ = 0, cols_ = 0;
  bool packs_ = false;
  size_t raw_offset_ = 0;
  AlignedBuffer memory_;
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_WEIGHT_MATRIX_H_
