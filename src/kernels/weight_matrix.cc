#include "kernels/weight_matrix.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "kernels/packed_types.h"

namespace kvasir {
namespace {

// What packing asks of a format: one function packs all of them, which is much smaller
// than one for each.
struct Packing {
  int64_t columns = 1, raw_bytes = 0, bytes = 0;  // of a block
  void (*pack_block)(const uint8_t* const* rows, uint8_t* out) = nullptr;
};

// Packs groups from the front while the raw rows stand at the end: no group
// reaches rows that were not read yet, since a packed group is no smaller than
// its rows.
void Pack(const Packing& format, int64_t rows, int64_t cols, size_t raw_offset,
          std::span<uint8_t> memory) {
  const int64_t blocks = cols / format.columns, row_bytes = blocks * format.raw_bytes;
  std::vector<uint8_t> group(static_cast<size_t>(kGroupRows * row_bytes));
  for (int64_t first = 0; first < rows; first += kGroupRows) {
    const int64_t count = std::min(kGroupRows, rows - first);
    std::fill(group.begin(), group.end(), uint8_t{0});  // rows that are not there
    std::memcpy(group.data(), memory.data() + raw_offset + static_cast<size_t>(first * row_bytes),
                static_cast<size_t>(count * row_bytes));
    uint8_t* out = memory.data() + first / kGroupRows * blocks * format.bytes;
    for (int64_t b = 0; b < blocks; ++b) {
      std::array<const uint8_t*, kGroupRows> raw;
      for (int64_t r = 0; r < kGroupRows; ++r) {
        raw[static_cast<size_t>(r)] = group.data() + r * row_bytes + b * format.raw_bytes;
      }
      format.pack_block(raw.data(), out + b * format.bytes);
    }
  }
}

bool HasLowest(const WeightMatrix& matrix) {
  const int64_t blocks = matrix.cols() / PackedQ8_0::kColumns;
  const int64_t groups = (matrix.rows() + kGroupRows - 1) / kGroupRows;
  for (int64_t b = 0; b < groups * blocks; ++b) {
    const uint8_t* q = matrix.data() + b * PackedQ8_0::kBytes + 8;
    for (int64_t i = 0; i < kGroupRows * PackedQ8_0::kColumns; i += 16) {
      const auto lowest = hn::Set(I8x16(), int8_t{-128});
      const auto weights = hn::LoadU(I8x16(), reinterpret_cast<const int8_t*>(q + i));
      if (!hn::AllFalse(I8x16(), hn::Eq(weights, lowest))) return true;
    }
  }
  return false;
}

}  // namespace

Result<WeightMatrixBuilder> WeightMatrixBuilder::Create(TensorType type, int64_t rows,
                                                        int64_t cols) {
  const Result<int64_t> raw = MatrixFileBytes(type, rows, cols);
  if (!raw.ok()) return raw.status();
  WeightMatrixBuilder builder;
  builder.type_ = type;
  builder.rows_ = rows;
  builder.cols_ = cols;
  std::optional<int64_t> bytes = *raw;
  builder.packs_ = WithPackedFormat(type, [&]<class Format>(std::type_identity<Format>) {
    const int64_t groups = (rows - 1) / kGroupRows + 1;
    const auto group = CheckedMul(cols / Format::kColumns, Format::kBytes);
    bytes = group ? CheckedMul(groups, *group) : group;
  });
  if (!bytes) return InvalidArgument("a matrix of this size cannot be addressed");
  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  builder.memory_ = *std::move(memory);
  builder.raw_offset_ = static_cast<size_t>(*bytes - *raw);
  return builder;
}

Result<WeightMatrix> WeightMatrixBuilder::Finish() {
  WeightMatrix matrix;
  matrix.type_ = type_;
  matrix.rows_ = rows_;
  matrix.cols_ = cols_;
  matrix.packed_ = packs_;
  if (!packs_) {
    Result<Matrix> plain = Matrix::FromFile(type_, rows_, cols_, std::move(memory_));
    if (!plain.ok()) return plain.status();
    matrix.plain_ = *std::move(plain);
    return matrix;
  }
  Packing packing;
  WithFileFormat(type_, [&]<class Format>(std::type_identity<Format>) {
    static_assert(Format::kBytes >= kGroupRows * Format::kRawBytes);
    packing = {Format::kColumns, Format::kRawBytes, Format::kBytes, Format::PackBlock};
  });
  Pack(packing, rows_, cols_, raw_offset_, memory_.bytes());
  matrix.data_ = std::move(memory_);
  matrix.has_lowest_ = type_ == TensorType::kQ8_0 && HasLowest(matrix);
  return matrix;
}

void WeightMatrix::DequantizeRow(int64_t r, float* out) const {
  assert(r >= 0 && r < rows_);
  if (!packed_) {
    plain_.DequantizeRow(r, out);
    return;
  }
  WithPackedFormat(type_, [&]<class Format>(std::type_identity<Format>) {
    const int64_t blocks = cols_ / Format::kColumns;
    const uint8_t* group = data_.data() + r / kGroupRows * blocks * Format::kBytes;
    for (int64_t b = 0; b < blocks; ++b) {
      Format::UnpackRow(group + b * Format::kBytes, r % kGroupRows, out + b * Format::kColumns);
    }
  });
}

}  // namespace kvasir
