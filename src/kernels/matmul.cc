#include "kernels/matmul.h"

#include <algorithm>
#include <array>

#include "kernels/weight_blocks.h"

namespace kvasir {
namespace {

// Every sum has one accumulator vector that runs over the columns in order,
// whatever the tile: so a row of x gives the same bits in a tile of any shape.
constexpr int kDecodeRows = 8;     // rows of w a tile with one row of x
constexpr int kPrefillRows = 2;    // rows of w a tile with several rows of x,
constexpr int kPrefillInputs = 4;  // so that a decoded weight is used four times

// y[i, r] for kRows rows of w from `w` and kInputs rows of x.
template <class Block, int kRows, int kInputs>
void Tile(const uint8_t* w, int64_t row_bytes, int64_t cols, const float* x,
          std::array<std::array<float, kInputs>, kRows>& sums) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  FloatVector acc[kRows][kInputs];
  for (auto& row : acc) {
    for (FloatVector& sum : row) sum = hn::Zero(df);
  }
  int64_t c = 0;
  for (; c + kBlockColumns <= cols; c += kBlockColumns) {
    for (int r = 0; r < kRows; ++r) {
      const Block block(w + r * row_bytes, c / kBlockColumns);
      for (int64_t j = 0; j < kBlockColumns; j += lanes) {
        const FloatVector weights = block.Vector(j);
        for (int i = 0; i < kInputs; ++i) {
          acc[r][i] = MulAdd(weights, hn::LoadU(df, x + i * cols + c + j), acc[r][i]);
        }
      }
    }
  }
  if constexpr (!Block::kWholeBlocks) {
    for (int r = 0; r < kRows; ++r) {
      const Block block(w + r * row_bytes, c / kBlockColumns);
      for (int64_t j = 0; c + j < cols; j += lanes) {
        const size_t count = static_cast<size_t>(cols - c - j);
        const FloatVector weights = block.Partial(j, count);
        for (int i = 0; i < kInputs; ++i) {
          acc[r][i] = MulAdd(weights, hn::LoadN(df, x + i * cols + c + j, count), acc[r][i]);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int i = 0; i < kInputs; ++i) sums[r][i] = hn::ReduceSum(df, acc[r][i]);
  }
}

// One call's operands, and the tiles that cover a range of rows.
template <class Block>
class Product {
 public:
  Product(const Matrix& w, const float* x, int64_t n, const float* bias, float* y)
      : w_(w), row_bytes_(RowBytes(w.type(), w.cols())), x_(x), n_(n), bias_(bias), y_(y) {}

  void Rows(int64_t begin, int64_t end) const {
    if (n_ == 1) {
      Cover<kDecodeRows, 1>(begin, end, 0, 1);
    } else {
      const int64_t whole = n_ / kPrefillInputs * kPrefillInputs;
      Cover<kPrefillRows, kPrefillInputs>(begin, end, 0, whole);
      Cover<kDecodeRows, 1>(begin, end, whole, n_);
    }
  }

 private:
  template <int kRows, int kInputs>
  void Cover(int64_t begin, int64_t end, int64_t first, int64_t last) const {
    int64_t r = begin;
    for (; r + kRows <= end; r += kRows) Inputs<kRows, kInputs>(r, first, last);
    for (; r < end; ++r) Inputs<1, kInputs>(r, first, last);
  }

  template <int kRows, int kInputs>
  void Inputs(int64_t row, int64_t first, int64_t last) const {
    std::array<std::array<float, kInputs>, kRows> sums;
    for (int64_t i = first; i < last; i += kInputs) {
      Tile<Block, kRows, kInputs>(w_.data() + row * row_bytes_, row_bytes_, w_.cols(),
                                  x_ + i * w_.cols(), sums);
      for (int r = 0; r < kRows; ++r) {
        const float bias = bias_ != nullptr ? bias_[row + r] : 0.0f;
        for (int k = 0; k < kInputs; ++k) y_[(i + k) * w_.rows() + row + r] = sums[r][k] + bias;
      }
    }
  }

  const Matrix& w_;
  int64_t row_bytes_;
  const float* x_;
  int64_t n_;
  const float* bias_;
  float* y_;
};

// Fewer products than this are not worth waking a thread for.
constexpr int64_t kProductsPerThread = 32768;

// Rows that a thread takes at least: whole tiles, and enough work.
int64_t RowGrain(int64_t cols, int64_t n) {
  const int64_t rows = (kProductsPerThread / cols + n - 1) / n;
  return std::max<int64_t>(1, (rows + kDecodeRows - 1) / kDecodeRows) * kDecodeRows;
}

}  // namespace

void MatMul(const Matrix& w, const float* x, int64_t n, const float* bias, float* y,
            ThreadPool& pool) {
  if (n <= 0) return;
  WithBlockType(w.type(), [&]<class Block>(std::type_identity<Block>) {
    const Product<Block> product(w, x, n, bias, y);
    pool.ParallelFor(w.rows(), RowGrain(w.cols(), n),
                     [&](int64_t begin, int64_t end, int /*worker*/) { product.Rows(begin, end); });
  });
}

}  // namespace kvasir
