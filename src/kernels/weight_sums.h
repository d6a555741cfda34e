// The integer part of a product of packed weights with quantized inputs: three
// ways to the same integers. Which is the fastest depends on the machine, and on
// what an engine makes of relaxed SIMD. Internal to the kernels.
//
// Each holds the 8 vectors of a unit, 32 columns of four rows, in its constructor's
// Format and adds the products with one input block:
//   Part(x, part)  the sums of a part of the unit, an i32 for each of the four rows
#ifndef KVASIR_KERNELS_WEIGHT_SUMS_H_
#define KVASIR_KERNELS_WEIGHT_SUMS_H_

#include <bit>
#include <cstdint>

#include "kernels/packed_formats.h"
#include "kernels/quantized_input.h"

namespace kvasir {

// What an input block holds, in registers.
struct LoadedInput {
  hn::Vec<I8x16> first, second;
  hn::Vec<I32x4> rest;  // scale, negated_sum, negated_pairs, negated_first_pairs

  explicit HWY_INLINE LoadedInput(const InputBlock& in)
      : first(hn::LoadU(I8x16(), in.q)),
        second(hn::LoadU(I8x16(), in.q + 16)),
        rest(hn::LoadU(I32x4(), reinterpret_cast<const int32_t*>(&in.scale))) {}

  HWY_INLINE hn::Vec<F32x4> Scale() const { return hn::BitCast(F32x4(), hn::Broadcast<0>(rest)); }
  HWY_INLINE hn::Vec<F32x4> NegatedSum() const {
    return hn::BitCast(F32x4(), hn::Broadcast<1>(rest));
  }
  // The same of the first half of the block.
  HWY_INLINE hn::Vec<F32x4> NegatedFirstSum() const {
    const auto pairs = hn::BitCast(I16x8(), hn::Broadcast<3>(rest));
    const auto sum = hn::WidenMulPairwiseAdd(I32x4(), pairs, Ones());
    return hn::Mul(Scale(), hn::ConvertTo(F32x4(), sum));
  }
  // The four values that meet vector i of the unit, for every row.
  template <int i>
  HWY_INLINE hn::Vec<I8x16> Four() const {
    return hn::BitCast(I8x16(), hn::Broadcast<i % 4>(hn::BitCast(I32x4(), i < 4 ? first : second)));
  }
  // Minus the sums of the values of a part, in pairs of places.
  template <int kParts, int part>
  HWY_INLINE hn::Vec<I16x8> NegatedPairs() const {
    const auto all = hn::BitCast(I16x8(), hn::Broadcast<2>(rest));
    if constexpr (kParts == 1) return all;
    const auto of_first = hn::BitCast(I16x8(), hn::Broadcast<3>(rest));
    return part == 0 ? of_first : hn::Sub(all, of_first);
  }
};

template <class Format>
struct UnitBytes {
  hn::Vec<I8x16> v[8];

  HWY_INLINE UnitBytes(const uint8_t* block, int unit) {
    for (int i = 0; i < 4; ++i) {
      const WeightPair pair = Format::Pair(block, unit, i);
      v[2 * i] = pair.first;
      v[2 * i + 1] = pair.second;
    }
  }
};

// Bytes with bytes, pairs added up in 16 bits, of weights of at most six bits: two
// instructions for 16 products, everywhere. The sums wrap on their way, but without
// the offset none is larger than 16 places * 127 * 16.
template <class Format>
class PairSums {
 public:
  HWY_INLINE PairSums(const uint8_t* block, int unit) : w_(block, unit) {}

  template <int part>
  HWY_INLINE hn::Vec<I32x4> Part(const LoadedInput& x) const {
    constexpr int kCount = 8 / Format::kParts;
    auto sum = Start<part>(x);
    sum = Add<kCount * part>(sum, x);
    sum = Add<kCount * part + 2>(sum, x);
    if constexpr (kCount == 8) sum = Add<6>(Add<4>(sum, x), x);
    return hn::WidenMulPairwiseAdd(I32x4(), sum, Ones());
  }

 private:
  template <int part>
  HWY_INLINE hn::Vec<I16x8> Start(const LoadedInput& x) const {
    if constexpr (Format::kOffset == 0) return hn::Zero(I16x8());
    constexpr int kShift = std::countr_zero(static_cast<unsigned>(Format::kOffset));
    return hn::ShiftLeft<kShift>(x.NegatedPairs<Format::kParts, part>());
  }
  template <int i>
  HWY_INLINE hn::Vec<I16x8> Add(hn::Vec<I16x8> sum, const LoadedInput& x) const {
    sum = hn::Add(sum, PairDot(x.Four<i>(), w_.v[i]));
    return hn::Add(sum, PairDot(x.Four<i + 1>(), w_.v[i + 1]));
  }

  UnitBytes<Format> w_;
};

// Bytes with bytes, four added up in 32 bits: one instruction for 16 products where
// the machine has it. Signed weights must not be -128.
template <class Format>
class QuadSums {
 public:
  HWY_INLINE QuadSums(const uint8_t* block, int unit) : w_(block, unit) {
    if constexpr (Format::kSigned) {
      for (int i = 0; i < 8; ++i) {
        sign_[i] = hn::BroadcastSignBit(w_.v[i]);
        w_.v[i] = hn::Abs(w_.v[i]);
      }
    }
  }

  template <int part>
  HWY_INLINE hn::Vec<I32x4> Part(const LoadedInput& x) const {
    constexpr int kCount = 8 / Format::kParts;
    auto sum = Start<part>(x);
    sum = Add<kCount * part>(sum, x);
    sum = Add<kCount * part + 2>(sum, x);
    if constexpr (kCount == 8) sum = Add<6>(Add<4>(sum, x), x);
    return sum;
  }

 private:
  template <int part>
  HWY_INLINE hn::Vec<I32x4> Start(const LoadedInput& x) const {
    if constexpr (Format::kOffset == 0) return hn::Zero(I32x4());
    const auto offset = hn::Set(I16x8(), static_cast<int16_t>(Format::kOffset));
    return hn::WidenMulPairwiseAdd(I32x4(), x.NegatedPairs<Format::kParts, part>(), offset);
  }
  template <int i>
  HWY_INLINE hn::Vec<I32x4> Add(hn::Vec<I32x4> sum, const LoadedInput& x) const {
    return AddOne<i + 1>(AddOne<i>(sum, x), x);
  }
  template <int i>
  HWY_INLINE hn::Vec<I32x4> AddOne(hn::Vec<I32x4> sum, const LoadedInput& x) const {
    auto a = x.Four<i>();
    if constexpr (Format::kSigned) a = hn::Sub(hn::Xor(a, sign_[i]), sign_[i]);
    return ByteDot(sum, a, w_.v[i]);
  }

  UnitBytes<Format> w_;
  hn::Vec<I8x16> sign_[Format::kSigned ? 8 : 1];
};

// 16 bits with 16 bits, for any weights: half a unit at a time, or the registers
// would not do. `half` sums go on from those of the half before.
template <class Format, int half>
class WordSums {
 public:
  struct Sums {
    hn::Vec<I32x4> low, high;  // of rows 0 and 1, of rows 2 and 3, two each
  };

  HWY_INLINE WordSums(const uint8_t* block, int unit) {
    for (int i = 0; i < 4; ++i) {
      if constexpr (requires { Format::Bytes(block, 0); }) {
        const hn::FixedTag<int8_t, 8> d;
        const int8_t* bytes = Format::Bytes(block, 4 * half + i);
        low_[i] = hn::PromoteTo(I16x8(), hn::LoadU(d, bytes));
        high_[i] = hn::PromoteTo(I16x8(), hn::LoadU(d, bytes + 8));
      } else {
        const WeightPair pair = Format::Pair(block, unit, 2 * half + i / 2);
        const auto bytes = i % 2 == 0 ? pair.first : pair.second;
        low_[i] = hn::PromoteLowerTo(I16x8(), bytes);
        high_[i] = hn::PromoteUpperTo(I16x8(), bytes);
      }
    }
  }

  HWY_INLINE Sums Add(const InputWords& x, Sums sums) const {
    for (int i = 0; i < 4; ++i) {
      const auto four = Splat4(x.q + 16 * half + 4 * i);
      sums.low = hn::Add(sums.low, hn::WidenMulPairwiseAdd(I32x4(), low_[i], four));
      sums.high = hn::Add(sums.high, hn::WidenMulPairwiseAdd(I32x4(), high_[i], four));
    }
    return sums;
  }

  static HWY_INLINE Sums Zero() { return {hn::Zero(I32x4()), hn::Zero(I32x4())}; }

  // The sums of a part, when all of it was added.
  template <int part>
  static HWY_INLINE hn::Vec<I32x4> Total(const Sums& sums, const LoadedInput& x) {
    const auto total = hn::Add(hn::ConcatEven(I32x4(), sums.high, sums.low),
                               hn::ConcatOdd(I32x4(), sums.high, sums.low));
    if constexpr (Format::kOffset == 0) return total;
    const auto offset = hn::Set(I16x8(), static_cast<int16_t>(Format::kOffset));
    const auto pairs = x.NegatedPairs<Format::kParts, part>();
    return hn::Add(total, hn::WidenMulPairwiseAdd(I32x4(), pairs, offset));
  }

 private:
  hn::Vec<I16x8> low_[4], high_[4];
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_WEIGHT_SUMS_H_
