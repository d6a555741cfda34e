// Rows of f32 as 8-bit integers with a scale and a zero point each.
#ifndef KVASIR_KERNELS_QUANTIZE_ROW_H_
#define KVASIR_KERNELS_QUANTIZE_ROW_H_

#include <cstdint>

namespace kvasir {

// x is about (q - zero_point) * scale, off by at most scale / 2 for every x of
// the row; 0 is exact. The scale is never below the epsilon of f32.
struct RowQuantization {
  float scale = 0;
  int8_t zero_point = 0;
};

// Asymmetric, over the whole row: mn = min(x, 0), mx = max(x, 0), scale =
// (mx - mn) / 255, q = clamp(round(x / scale) + zero_point, -128, 127), rounded
// half to even. Source: PyTorch's choose_qparams, as ExecuTorch's quantized KV
// cache uses it.
RowQuantization QuantizeRow(const float* in, int64_t n, int8_t* out);

void DequantizeRow(const int8_t* in, int64_t n, RowQuantization quantization, float* out);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_QUANTIZE_ROW_H_
