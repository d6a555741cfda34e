// A weight matrix, kept in the form that the products read fastest.
#ifndef KVASIR_KERNELS_MATRIX_H_
#define KVASIR_KERNELS_MATRIX_H_

#include <cstdint>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/tensor_type.h"

namespace kvasir {

// Bytes that a matrix has in a file. INVALID_ARGUMENT when it is empty, when cols is
// not a multiple of the type's block, or when the size overflows;
// UNSUPPORTED_MODEL for a type that is not known.
Result<int64_t> MatrixFileBytes(TensorType type, int64_t rows, int64_t cols);

// [rows, cols], each row `cols` elements of one tensor type. Immutable.
// K-quants have no such form: they are always packed (weight_matrix.h).
class Matrix {
 public:
  Matrix() = default;

  // Takes the tensor's bytes as they stand in the file (row-major).
  // INVALID_ARGUMENT when cols is not a multiple of the type's block or `raw`
  // has another size than rows * cols elements need; UNSUPPORTED_MODEL for a
  // type without kernels.
  static Result<Matrix> FromFile(TensorType type, int64_t rows, int64_t cols, AlignedBuffer raw);

  TensorType type() const { return type_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  size_t bytes() const { return data_.size(); }
  bool empty() const { return rows_ == 0; }

  // Row r, as floats, to out [cols]: an embedding look-up.
  void DequantizeRow(int64_t r, float* out) const;

  // For kernels.
  const uint8_t* data() const { return data_.data(); }

 private:
  TensorType type_ = TensorType::kF32;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  AlignedBuffer data_;
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_MATRIX_H_
