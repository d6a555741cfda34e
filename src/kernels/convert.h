// Number formats to f32 and back.
#ifndef KVASIR_KERNELS_CONVERT_H_
#define KVASIR_KERNELS_CONVERT_H_

#include <cstdint>

namespace kvasir {

// IEEE 754 binary16, round to nearest even; infinities and NaN stay such,
// subnormals are kept.
void F16ToF32(const uint16_t* in, int64_t n, float* out);
void F32ToF16(const float* in, int64_t n, uint16_t* out);

// The upper half of an f32.
void BF16ToF32(const uint16_t* in, int64_t n, float* out);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_CONVERT_H_
