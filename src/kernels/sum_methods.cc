#include "kernels/sum_methods.h"

namespace kvasir {

SumMethods FastestSumMethods() {
#if KVASIR_DOTS_BYTES
  // Outside what it promises, the dot product shows its instruction: four products of
  // 127 and 255 are 65534 where two are added up in 16 bits first, which saturate;
  // 129540 with x86's VPDPBUSD; -508 with Arm's SDOT, to which 255 is -1.
  const volatile int8_t largest = 127, all_ones = -1;
  const auto sums =
      ByteDot(hn::Zero(I32x4()), hn::Set(I8x16(), largest), hn::Set(I8x16(), all_ones));
  constexpr int32_t kSaturated = 65534;
  if (hn::GetLane(sums) == kSaturated)
    return {.small = SumMethod::kPairs, .bytes = SumMethod::kWords};
  return {.small = SumMethod::kQuads, .bytes = SumMethod::kQuads};
#else
  return {};
#endif
}

}  // namespace kvasir
