#include "kernels/weight_matmul.h"

#include <algorithm>
#include <type_traits>

#include "kernels/matmul.h"
#include "kernels/packed_types.h"
#include "kernels/weight_tile.h"

namespace kvasir {
namespace {

// Groups of rows that all inputs meet before the next come: the weights of these
// stay in the second cache.
constexpr int64_t kGroupBlock = 16;

// Fewer products than this are not worth waking a thread for.
constexpr int64_t kProductsPerThread = 32768;

// One product's operands, and the tiles that cover a range of groups.
template <class Format, class Tile>
class Product {
 public:
  Product(const WeightProduct& product, const QuantizedInput& x)
      : w_(*product.w),
        bias_(product.bias),
        y_(product.y),
        x_(x),
        group_bytes_(x.cols() / Format::kColumns * Format::kBytes) {}

  void Groups(int64_t begin, int64_t end) const {
    for (int64_t first = begin; first < end; first += kGroupBlock) {
      const int64_t last = std::min(end, first + kGroupBlock);
      for (int64_t input = 0; input < x_.rows(); input += kPanelRows) {
        for (int64_t group = first; group < last; ++group) {
          if (x_.PanelRows(input) == 1) {
            MultiplyOne(group, input);
          } else {
            MultiplyPanel(group, input);
          }
        }
      }
    }
  }

 private:
  // Functions of their own: engines find registers for small ones only.
  HWY_NOINLINE void MultiplyOne(int64_t group, int64_t input) const {
    auto acc = hn::Zero(F32x4());  // stays in a register
    Tile::Add(w_.data() + group * group_bytes_, x_.Panel(input), 1, x_.cols(), &acc);
    Store(acc, group, input);
  }
  HWY_NOINLINE void MultiplyPanel(int64_t group, int64_t input) const {
    const int64_t rows = x_.PanelRows(input);
    hn::Vec<F32x4> acc[kPanelRows];
    for (auto& sum : acc) sum = hn::Zero(F32x4());
    Tile::Add(w_.data() + group * group_bytes_, x_.Panel(input), rows, x_.cols(), acc);
    for (int64_t i = 0; i < rows; ++i) Store(acc[i], group, input + i);
  }

  HWY_INLINE void Store(hn::Vec<F32x4> total, int64_t group, int64_t input) const {
    const int64_t row = group * kGroupRows;
    const size_t rows = static_cast<size_t>(std::min(kGroupRows, w_.rows() - row));
    if (bias_ != nullptr) total = hn::Add(total, hn::LoadN(F32x4(), bias_ + row, rows));
    hn::StoreN(total, F32x4(), y_ + input * w_.rows() + row, rows);
  }

  const WeightMatrix& w_;
  const float* bias_;
  float* y_;
  const QuantizedInput& x_;
  int64_t group_bytes_;
};

template <class Format>
void MultiplyGroups(const WeightProduct& product, const QuantizedInput& x,
                    const SumMethods& methods, int64_t begin, int64_t end) {
  if constexpr (kDotsBytes) {
    const SumMethod method = Format::kSigned ? methods.bytes : methods.small;
    if (method == SumMethod::kQuads && !product.w->has_lowest()) {
      Product<Format, ByteTile<Format, QuadSums>>(product, x).Groups(begin, end);
      return;
    }
    if constexpr (!Format::kSigned) {
      if (method == SumMethod::kPairs) {
        Product<Format, ByteTile<Format, PairSums>>(product, x).Groups(begin, end);
        return;
      }
    }
  }
  Product<Format, WordTile<Format>>(product, x).Groups(begin, end);
}

int64_t GroupsOf(const WeightMatrix& w) { return (w.rows() + kGroupRows - 1) / kGroupRows; }

}  // namespace

void MatMul(std::span<const WeightProduct> products, const QuantizedInput& x, ThreadPool& pool,
            const SumMethods& methods) {
  if (x.rows() == 0) return;
  int64_t groups = 0;
  for (const WeightProduct& product : products) {
    if (product.w->packed()) {
      groups += GroupsOf(*product.w);
    } else {
      MatMul(product.w->plain(), x.values(), x.rows(), product.bias, product.y, pool);
    }
  }
  // One range over the groups of all packed products.
  const int64_t products_per_group = kGroupRows * std::max<int64_t>(1, x.cols()) * x.rows();
  const int64_t grain = kProductsPerThread / products_per_group + 1;
  pool.ParallelFor(groups, grain, [&](int64_t begin, int64_t end, int /*worker*/) {
    int64_t before = 0;
    for (const WeightProduct& product : products) {
      if (!product.w->packed()) continue;
      const int64_t count = GroupsOf(*product.w);
      const int64_t first = std::clamp<int64_t>(begin - before, 0, count);
      const int64_t last = std::clamp<int64_t>(end - before, 0, count);
      before += count;
      if (first >= last) continue;
      WithPackedFormat(product.w->type(), [&]<class Format>(std::type_identity<Format>) {
        MultiplyGroups<Format>(product, x, methods, first, last);
      });
    }
  });
}

}  // namespace kvasir
