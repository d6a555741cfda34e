// Which way to the integer sums of packed products is the fastest here.
#ifndef KVASIR_KERNELS_SUM_METHODS_H_
#define KVASIR_KERNELS_SUM_METHODS_H_

#include "simd/byte_dot.h"

namespace kvasir {

// See weight_sums.h. All give the same results, bit for bit.
enum class SumMethod { kPairs, kQuads, kWords };

struct SumMethods {
  SumMethod small = SumMethod::kWords;  // weights of at most six bits
  SumMethod bytes = SumMethod::kWords;  // kQuads or kWords

  bool operator==(const SumMethods&) const = default;
};

// Asks what the dot product of bytes is made of: one instruction on some machines,
// seven on others. No time is measured: an engine's first code says nothing of its best.
SumMethods FastestSumMethods();

}  // namespace kvasir

#endif  // KVASIR_KERNELS_SUM_METHODS_H_
