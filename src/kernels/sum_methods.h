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

// Measured when it is first asked for, which takes some 20 ms where there is a
// choice: relaxed SIMD is one instruction on some machines and seven on others.
const SumMethods& FastestSumMethods();

}  // namespace kvasir

#endif  // KVASIR_KERNELS_SUM_METHODS_H_
