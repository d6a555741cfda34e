#include "kernels/weight_matmul.h"

#include <algorithm>
#include <type_traits>

#include "kernels/matmul.h"
#include "kernels/packed_types.h"

namespace kvasir {
namespace {

// Tiles of groups of four rows and of inputs. Decoding takes as many groups as
// have their sums in registers, so that one load of the input serves them all;
// prefill shares the weights between inputs as well.
constexpr int kDecodeGroups = 4;
constexpr int kPrefillGroups = 2;
constexpr int kPrefillInputs = 4;

// Fewer products than this are not worth waking a thread for.
constexpr int64_t kProductsPerThread = 32768;

// Sums of products of a group with a block of one input: bytes with bytes.
template <bool kSigned>
class ByteSum {
 public:
  struct Weights {
    hn::Vec<I8x16> magnitude, sign;
  };
  using Input = hn::Vec<I8x16>;

  static HWY_INLINE Weights Prepare(hn::Vec<I8x16> w) {
    if constexpr (kSigned) return {hn::Abs(w), hn::BroadcastSignBit(w)};
    return {w, w};
  }
  static HWY_INLINE Input Load(const QuantizedInput::Element* in) {
    return Splat4(reinterpret_cast<const int8_t*>(in));
  }
  HWY_INLINE void Add(const Weights& w, Input a) {
    if constexpr (kSigned) a = hn::Sub(hn::Xor(a, w.sign), w.sign);  // the sign goes over
    sum_ = ByteDot(sum_, a, w.magnitude);
  }
  HWY_INLINE hn::Vec<I32x4> Total() const { return sum_; }

 private:
  hn::Vec<I32x4> sum_ = hn::Zero(I32x4());
};

// The same in 16 bits, for any weights.
class WordSum {
 public:
  struct Weights {
    hn::Vec<I16x8> low, high;  // rows 0 and 1, rows 2 and 3
  };
  using Input = hn::Vec<I16x8>;

  static HWY_INLINE Weights Prepare(hn::Vec<I8x16> w) {
    return {hn::PromoteLowerTo(I16x8(), w), hn::PromoteUpperTo(I16x8(), w)};
  }
  static HWY_INLINE Input Load(const int16_t* in) { return Splat4(in); }
  static HWY_INLINE Input Load(const int8_t* in) { return hn::PromoteLowerTo(I16x8(), Splat4(in)); }
  HWY_INLINE void Add(const Weights& w, Input a) {
    low_ = hn::Add(low_, hn::WidenMulPairwiseAdd(I32x4(), w.low, a));
    high_ = hn::Add(high_, hn::WidenMulPairwiseAdd(I32x4(), w.high, a));
  }
  HWY_INLINE hn::Vec<I32x4> Total() const {
    return hn::Add(hn::ConcatEven(I32x4(), high_, low_), hn::ConcatOdd(I32x4(), high_, low_));
  }

 private:
  hn::Vec<I32x4> low_ = hn::Zero(I32x4()), high_ = hn::Zero(I32x4());
};

// One product's operands, and the tiles that cover a range of groups.
template <class Format, class IntegerSum>
class Product {
 public:
  Product(const WeightProduct& product, const QuantizedInput& x)
      : w_(*product.w),
        bias_(product.bias),
        y_(product.y),
        x_(x),
        group_bytes_(x.cols() / Format::kColumns * Format::kBytes) {}

  void Groups(int64_t begin, int64_t end) const {
    const int64_t whole = x_.rows() / kPrefillInputs * kPrefillInputs;
    if (whole > 0) Cover<kPrefillGroups, kPrefillInputs>(begin, end, 0, whole);
    if (whole < x_.rows()) Cover<kDecodeGroups, 1>(begin, end, whole, x_.rows());
  }

 private:
  static constexpr int kStepColumns = 8 * Format::kStepPairs;
  static constexpr int kSteps = Format::kColumns / kStepColumns;
  static_assert(kStepColumns == kInputBlock || kStepColumns == kInputBlock / 2);

  template <int kGroups, int kInputs>
  void Cover(int64_t begin, int64_t end, int64_t first, int64_t last) const {
    int64_t g = begin;
    for (; g + kGroups <= end; g += kGroups) {
      for (int64_t i = first; i < last; i += kInputs) Tile<kGroups, kInputs>(g, i);
    }
    for (; g < end; ++g) {
      for (int64_t i = first; i < last; i += kInputs) Tile<1, kInputs>(g, i);
    }
  }

  template <int kGroups, int kInputs>
  void Tile(int64_t group, int64_t input) const {
    hn::Vec<F32x4> acc[kGroups][kInputs];
    for (auto& of_group : acc) {
      for (auto& sum : of_group) sum = hn::Zero(F32x4());
    }
    const uint8_t* block = w_.data() + group * group_bytes_;
    for (int64_t column = 0; column < x_.cols(); column += Format::kColumns) {
      typename Format::Header headers[kGroups];
      for (int g = 0; g < kGroups; ++g) headers[g] = Format::Load(block + g * group_bytes_);
      for (int step = 0; step < kSteps; ++step) {
        Step<kGroups, kInputs>(block, headers, step, column + step * kStepColumns, input, acc);
      }
      block += Format::kBytes;
    }
    for (int g = 0; g < kGroups; ++g) {
      const int64_t row = (group + g) * kGroupRows;
      const size_t rows = static_cast<size_t>(std::min(kGroupRows, w_.rows() - row));
      for (int k = 0; k < kInputs; ++k) {
        auto total = acc[g][k];
        if (bias_ != nullptr) total = hn::Add(total, hn::LoadN(F32x4(), bias_ + row, rows));
        hn::StoreN(total, F32x4(), y_ + (input + k) * w_.rows() + row, rows);
      }
    }
  }

  template <int kGroups, int kInputs>
  HWY_INLINE void Step(const uint8_t* block, const typename Format::Header* headers, int step,
                       int64_t column, int64_t input,
                       hn::Vec<F32x4> (&acc)[kGroups][kInputs]) const {
    IntegerSum sums[kGroups][kInputs];
    for (int i = 0; i < Format::kStepPairs; ++i) {
      typename IntegerSum::Weights first[kGroups], second[kGroups];
      for (int g = 0; g < kGroups; ++g) {
        const WeightPair pair = Format::Pair(block + g * group_bytes_, step, i);
        first[g] = IntegerSum::Prepare(pair.first);
        second[g] = IntegerSum::Prepare(pair.second);
      }
      for (int k = 0; k < kInputs; ++k) {
        const auto* a = x_.Row(input + k) + column + 8 * i;
        const auto a0 = IntegerSum::Load(a), a1 = IntegerSum::Load(a + 4);
        for (int g = 0; g < kGroups; ++g) {
          sums[g][k].Add(first[g], a0);
          sums[g][k].Add(second[g], a1);
        }
      }
    }
    typename Format::Factors factors[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      factors[g] = Format::Step(headers[g], block + g * group_bytes_, step);
    }
    for (int k = 0; k < kInputs; ++k) {
      const float scale = x_.Scales(input + k)[column / kInputBlock];
      const int32_t* halves = x_.HalfSums(input + k) + column / (kInputBlock / 2);
      const int32_t inputs = kStepColumns == kInputBlock ? halves[0] + halves[1] : halves[0];
      for (int g = 0; g < kGroups; ++g) {
        acc[g][k] = Format::Total(factors[g], sums[g][k].Total(), scale, inputs, acc[g][k]);
      }
    }
  }

  const WeightMatrix& w_;
  const float* bias_;
  float* y_;
  const QuantizedInput& x_;
  int64_t group_bytes_;
};

void MultiplyGroups(const WeightProduct& product, const QuantizedInput& x, int64_t begin,
                    int64_t end) {
  WithPackedFormat(product.w->type(), [&]<class Format>(std::type_identity<Format>) {
    if constexpr (kDotsBytes) {
      if (!product.w->has_lowest()) {
        Product<Format, ByteSum<Format::kSigned>>(product, x).Groups(begin, end);
        return;
      }
    }
    Product<Format, WordSum>(product, x).Groups(begin, end);
  });
}

int64_t GroupsOf(const WeightMatrix& w) { return (w.rows() + kGroupRows - 1) / kGroupRows; }

}  // namespace

void MatMul(std::span<const WeightProduct> products, const QuantizedInput& x, ThreadPool& pool) {
  if (x.rows() == 0) return;
  int64_t groups = 0;
  for (const WeightProduct& product : products) {
    if (product.w->packed()) {
      groups += GroupsOf(*product.w);
    } else {
      MatMul(product.w->plain(), x.values(), x.rows(), product.bias, product.y, pool);
    }
  }
  // One range over the groups of all packed products, in whole tiles.
  const int64_t products_per_group = kGroupRows * std::max<int64_t>(1, x.cols()) * x.rows();
  const int64_t enough = kProductsPerThread / products_per_group + 1;
  const int64_t grain = (enough + kDecodeGroups - 1) / kDecodeGroups * kDecodeGroups;
  pool.ParallelFor(groups, grain, [&](int64_t begin, int64_t end, int /*worker*/) {
    int64_t before = 0;
    for (const WeightProduct& product : products) {
      if (!product.w->packed()) continue;
      const int64_t count = GroupsOf(*product.w);
      const int64_t first = std::clamp<int64_t>(begin - before, 0, count);
      const int64_t last = std::clamp<int64_t>(end - before, 0, count);
      if (first < last) MultiplyGroups(product, x, first, last);
      before += count;
    }
  });
}

}  // namespace kvasir
