// A group of packed rows times some rows of a quantized input. Internal to the
// kernels.
#ifndef KVASIR_KERNELS_WEIGHT_TILE_H_
#define KVASIR_KERNELS_WEIGHT_TILE_H_

#include <cstdint>

#include "kernels/weight_sums.h"

namespace kvasir {

// Where the sums of inputs are, four floats each: in memory, or the only one in a
// register.
class InMemory {
 public:
  explicit HWY_INLINE InMemory(float* sums) : sums_(sums) {}
  HWY_INLINE hn::Vec<F32x4> Get(int64_t i) const { return hn::LoadU(F32x4(), sums_ + 4 * i); }
  HWY_INLINE void Set(int64_t i, hn::Vec<F32x4> sum) { hn::StoreU(sum, F32x4(), sums_ + 4 * i); }

 private:
  float* sums_;
};
class InRegister {
 public:
  explicit HWY_INLINE InRegister(const float* sums) : sum_(hn::LoadU(F32x4(), sums)) {}
  HWY_INLINE hn::Vec<F32x4> Get(int64_t) const { return sum_; }
  HWY_INLINE void Set(int64_t, hn::Vec<F32x4> sum) { sum_ = sum; }

 private:
  hn::Vec<F32x4> sum_;
};

// What turns the integers of a unit into floats.
template <class Format>
struct UnitFactors {
  hn::Vec<F32x4> scale[Format::kParts];
  hn::Vec<F32x4> min[Format::kMinCount > 0 ? Format::kMinCount : 1];

  HWY_INLINE UnitFactors(const typename Format::Header& header, const uint8_t* block, int unit) {
    for (int i = 0; i < Format::kParts; ++i) scale[i] = Format::Scale(header, block, unit, i);
    if constexpr (Format::kMinCount > 0) {
      for (int i = 0; i < Format::kMinCount; ++i) min[i] = Format::Min(header, block, unit, i);
    }
  }

  HWY_INLINE hn::Vec<F32x4> AddMin(const LoadedInput& x, hn::Vec<F32x4> before) const {
    if constexpr (Format::kMinCount == 0) return before;
    if constexpr (Format::kMinCount == 1) return MulAdd(min[0], x.NegatedSum(), before);
    const auto first = x.NegatedFirstSum();
    return MulAdd(min[1], hn::Sub(x.NegatedSum(), first), MulAdd(min[0], first, before));
  }
  template <int part>
  HWY_INLINE hn::Vec<F32x4> AddPart(const LoadedInput& x, hn::Vec<I32x4> sums,
                                    hn::Vec<F32x4> before) const {
    return MulAdd(hn::Mul(scale[part], x.Scale()), hn::ConvertTo(F32x4(), sums), before);
  }
};

// Calls fn(block, unit, header, first) for the units of a group; `first` is the first
// of the input blocks that they meet.
template <class Format, class F>
HWY_INLINE void ForUnits(const uint8_t* group, int64_t rows, int64_t cols, const F& fn) {
  constexpr int kUnits = static_cast<int>(Format::kColumns / kInputBlock);
  int64_t first = 0;
  for (int64_t column = 0; column < cols; column += Format::kColumns) {
    const typename Format::Header header = Format::Load(group);
    for (int unit = 0; unit < kUnits; ++unit, first += rows) fn(group, unit, header, first);
    group += Format::kBytes;
  }
}

// Sums is PairSums or QuadSums. The weights stay in registers while the inputs pass:
// a tile that keeps its sums there instead has more than engines find room for.
template <class Format, template <class> class Sums>
struct ByteTile {
  // sums: [in.rows], what is there already.
  template <class Accumulator>
  static HWY_INLINE void Add(const uint8_t* group, InputPanel in, int64_t cols, Accumulator& sums) {
    ForUnits<Format>(group, in.rows, cols,
                     [&](const uint8_t* block, int unit, const auto& header, int64_t first) {
                       const Sums<Format> w(block, unit);
                       const UnitFactors<Format> factors(header, block, unit);
                       const InputBlock* blocks = in.blocks + first;
                       for (int64_t i = 0; i < in.rows; ++i) {
                         const LoadedInput x(blocks[i]);
                         auto total = factors.AddMin(x, sums.Get(i));
                         total = factors.template AddPart<0>(x, w.template Part<0>(x), total);
                         if constexpr (Format::kParts == 2) {
                           total = factors.template AddPart<1>(x, w.template Part<1>(x), total);
                         }
                         sums.Set(i, total);
                       }
                     });
  }
};

template <class Format>
struct WordTile {
  template <class Accumulator>
  static HWY_INLINE void Add(const uint8_t* group, InputPanel in, int64_t cols, Accumulator& sums) {
    ForUnits<Format>(
        group, in.rows, cols,
        [&](const uint8_t* block, int unit, const auto& header, int64_t first) {
          using First = WordSums<Format, 0>;
          using Second = WordSums<Format, 1>;
          constexpr int kLast = Format::kParts - 1;
          const InputBlock* blocks = in.blocks + first;
          const InputWords* words = in.words + first;
          const UnitFactors<Format> factors(header, block, unit);
          typename First::Sums integers[kPanelRows];
          const First first_half(block, unit);
          for (int64_t i = 0; i < in.rows; ++i) {
            integers[i] = first_half.Add(words[i], First::Zero());
            if constexpr (kLast == 1) {
              const LoadedInput x(blocks[i]);
              const auto total = First::template Total<0>(integers[i], x);
              sums.Set(i, factors.template AddPart<0>(x, total, factors.AddMin(x, sums.Get(i))));
            }
          }
          const Second second_half(block, unit);
          for (int64_t i = 0; i < in.rows; ++i) {
            const LoadedInput x(blocks[i]);
            typename Second::Sums all = Second::Zero();
            if constexpr (kLast == 0) all = {integers[i].low, integers[i].high};
            all = second_half.Add(words[i], all);
            const auto total = Second::template Total<kLast>(all, x);
            auto before = sums.Get(i);
            if constexpr (kLast == 0) before = factors.AddMin(x, before);
            sums.Set(i, factors.template AddPart<kLast>(x, total, before));
          }
        });
  }
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_WEIGHT_TILE_H_
