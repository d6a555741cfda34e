// Element-wise operations on dense f32 arrays.
#ifndef KVASIR_KERNELS_ELEMENTWISE_H_
#define KVASIR_KERNELS_ELEMENTWISE_H_

#include <cstdint>

namespace kvasir {

// x[i] += y[i].
void AddInPlace(float* x, const float* y, int64_t n);

// x[i] += factor * y[i].
void AddScaledInPlace(float* x, const float* y, float factor, int64_t n);

// gate[i] = silu(gate[i]) * up[i], silu(v) = v / (1 + exp(-v)): the inner part
// of SwiGLU. Source: Shazeer, "GLU Variants Improve Transformer", 2020.
void SwiGlu(float* gate, const float* up, int64_t n);

// gate[i] = gelu(gate[i]) * up[i], gelu(v) = v / 2 * (1 + tanh(sqrt(2 / pi) *
// (v + 0.044715 v^3))). Source: Hendrycks and Gimpel, "Gaussian Error Linear
// Units", 2016.
void GeGlu(float* gate, const float* up, int64_t n);

// x[i] *= factor.
void ScaleInPlace(float* x, float factor, int64_t n);

// x[i] = cap * tanh(x[i] / cap).
void SoftCapInPlace(float* x, float cap, int64_t n);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_ELEMENTWISE_H_
