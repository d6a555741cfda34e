// Rows of f32 as the blocks of quantized tensors.
#ifndef KVASIR_KERNELS_QUANTIZE_BLOCKS_H_
#define KVASIR_KERNELS_QUANTIZE_BLOCKS_H_

#include <cstdint>

#include "base/tensor_type.h"

namespace kvasir {

// Whether weights can be quantized to `type`: Q8_0 and Q4_0.
bool CanQuantizeTo(TensorType type);

// `n` elements, whole blocks of `type`, to RowBytes(type, n) bytes. Source: ggml's
// reference: Q8_0 has the scale max|x| / 127 and rounds to nearest, halves away from
// 0; Q4_0 has the scale m / -8 with m the element of the largest magnitude, and
// rounds to nearest.
void QuantizeBlocks(TensorType type, const float* in, int64_t n, uint8_t* out);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_QUANTIZE_BLOCKS_H_
