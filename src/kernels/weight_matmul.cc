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

// Ranges of groups that a thread takes, one after the other.
constexpr int64_t kRangesPerThread = 8;

// Adds the products of a group of packed rows with a panel to sums, [rows, 4].
using TileFunction = void (*)(const uint8_t* group, const InputPanel& in, int64_t cols,
                              float* sums);

// Called through pointers, so that no tool inlines them: engines find registers in
// small functions only.
struct Tiles {
  TileFunction one, panel;
  int64_t columns, bytes;  // of a group's block
};

template <class Tile>
void MultiplyOne(const uint8_t* group, const InputPanel& in, int64_t cols, float* sums) {
  InRegister sum(sums);
  Tile::Add(group, {in.blocks, in.words, 1}, cols, sum);
  hn::StoreU(sum.Get(0), F32x4(), sums);
}

template <class Tile>
void MultiplyPanel(const uint8_t* group, const InputPanel& in, int64_t cols, float* sums) {
  InMemory in_memory(sums);
  Tile::Add(group, in, cols, in_memory);
}

template <class Format, class Tile>
Tiles TilesOf() {
  return {MultiplyOne<Tile>, MultiplyPanel<Tile>, Format::kColumns, Format::kBytes};
}

template <class Format>
Tiles ChooseTiles(const WeightMatrix& w, const SumMethods& methods) {
  if constexpr (kDotsBytes) {
    const SumMethod method = Format::kSigned ? methods.bytes : methods.small;
    if (method == SumMethod::kQuads && !w.has_lowest()) {
      return TilesOf<Format, ByteTile<Format, QuadSums>>();
    }
    if constexpr (!Format::kSigned) {
      if (method == SumMethod::kPairs) return TilesOf<Format, ByteTile<Format, PairSums>>();
    }
  }
  return TilesOf<Format, WordTile<Format>>();
}

void MultiplyGroups(const WeightProduct& product, const QuantizedInput& x, const Tiles& tiles,
                    int64_t begin, int64_t end) {
  const WeightMatrix& w = *product.w;
  const int64_t group_bytes = x.cols() / tiles.columns * tiles.bytes;
  float sums[kPanelRows * kGroupRows];
  for (int64_t first = begin; first < end; first += kGroupBlock) {
    const int64_t last = std::min(end, first + kGroupBlock);
    for (int64_t input = 0; input < x.rows(); input += kPanelRows) {
      const InputPanel panel = x.Panel(input);
      const TileFunction multiply = panel.rows == 1 ? tiles.one : tiles.panel;
      for (int64_t group = first; group < last; ++group) {
        const int64_t row = group * kGroupRows;
        const size_t count = static_cast<size_t>(std::min(kGroupRows, w.rows() - row));
        auto start = hn::Zero(F32x4());
        if (product.bias != nullptr) start = hn::LoadN(F32x4(), product.bias + row, count);
        for (int64_t i = 0; i < panel.rows; ++i) hn::StoreU(start, F32x4(), sums + kGroupRows * i);
        multiply(w.data() + group * group_bytes, panel, x.cols(), sums);
        float* y = product.y + input * w.rows() + row;
        for (int64_t i = 0; i < panel.rows; ++i) {
          const auto total = hn::LoadU(F32x4(), sums + kGroupRows * i);
          hn::StoreN(total, F32x4(), y + i * w.rows(), count);
        }
      }
    }
  }
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
  // The groups of all packed products are shared out together.
  const int64_t products_per_group = kGroupRows * std::max<int64_t>(1, x.cols()) * x.rows();
  const int64_t shortest = kProductsPerThread / products_per_group + 1;
  const auto multiply = [&](int64_t begin, int64_t end, int /*worker*/) {
    int64_t before = 0;
    for (const WeightProduct& product : products) {
      if (!product.w->packed()) continue;
      const int64_t count = GroupsOf(*product.w);
      const int64_t first = std::clamp<int64_t>(begin - before, 0, count);
      const int64_t last = std::clamp<int64_t>(end - before, 0, count);
      before += count;
      if (first >= last) continue;
      WithPackedFormat(product.w->type(), [&]<class Format>(std::type_identity<Format>) {
        const Tiles tiles = ChooseTiles<Format>(*product.w, methods);
        MultiplyGroups(product, x, tiles, first, last);
      });
    }
  };
  if (x.rows() == 1) {
    // Over so soon, and so near to the memory's speed, that long runs are worth more.
    pool.ParallelFor(groups, shortest, multiply);
  } else {
    const int64_t range = std::min(kGroupBlock, groups / (kRangesPerThread * pool.size()) + 1);
    pool.ForEachRange(groups, std::max(shortest, range), multiply);
  }
}

}  // namespace kvasir
