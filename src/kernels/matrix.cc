#include "kernels/matrix.h"

#include <cassert>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "kernels/weight_blocks.h"

namespace kvasir {

namespace {

Status NotSupported(TensorType type) {
  return UnsupportedModel("tensor type " + std::to_string(static_cast<uint32_t>(type)) +
                          " is not supported");
}

std::string Describe(TensorType type, int64_t rows, int64_t cols) {
  return "a " + std::string(FindTensorTypeTraits(type)->name) + " matrix of " +
         std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

Result<int64_t> MatrixFileBytes(TensorType type, int64_t rows, int64_t cols) {
  const std::optional<TensorTypeTraits> traits = FindTensorTypeTraits(type);
  if (!traits) return NotSupported(type);
  if (rows < 1 || cols < 1 || cols % traits->block_elements != 0) {
    return InvalidArgument(Describe(type, rows, cols) + " is not made of whole blocks of " +
                           std::to_string(traits->block_elements));
  }
  const std::optional<int64_t> blocks = CheckedMul(rows, cols / traits->block_elements);
  const std::optional<int64_t> bytes = blocks ? CheckedMul(*blocks, traits->block_bytes) : blocks;
  if (!bytes) return InvalidArgument(Describe(type, rows, cols) + " cannot be addressed");
  return *bytes;
}

Result<Matrix> Matrix::FromFile(TensorType type, int64_t rows, int64_t cols, AlignedBuffer raw) {
  if (!WithBlockType(type, [](auto) {})) return NotSupported(type);
  const Result<int64_t> bytes = MatrixFileBytes(type, rows, cols);
  if (!bytes.ok()) return bytes.status();
  if (static_cast<uint64_t>(*bytes) != raw.size()) {
    return InvalidArgument(Describe(type, rows, cols) + " does not have " +
                           std::to_string(raw.size()) + " bytes");
  }
  Matrix matrix;
  matrix.type_ = type;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.data_ = std::move(raw);
  return matrix;
}

void Matrix::DequantizeRow(int64_t r, float* out) const {
  assert(r >= 0 && r < rows_);
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  const uint8_t* row = data_.data() + r * RowBytes(type_, cols_);
  WithBlockType(type_, [&]<class Block>(std::type_identity<Block>) {
    int64_t c = 0;
    for (; c + kBlockColumns <= cols_; c += kBlockColumns) {
      const Block block(row, c / kBlockColumns);
      for (int64_t j = 0; j < kBlockColumns; j += lanes) {
        hn::StoreU(block.Vector(j), df, out + c + j);
      }
    }
    if constexpr (!Block::kWholeBlocks) {
      const Block block(row, c / kBlockColumns);
      for (int64_t j = 0; c + j < cols_; j += lanes) {
        const size_t count = static_cast<size_t>(cols_ - c - j);
        hn::StoreN(block.Partial(j, count), df, out + c + j, count);
      }
    }
  });
}

}  // namespace kvasir
