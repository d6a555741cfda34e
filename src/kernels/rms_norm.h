// Root-mean-square normalization.
#ifndef KVASIR_KERNELS_RMS_NORM_H_
#define KVASIR_KERNELS_RMS_NORM_H_

#include <cstdint>

namespace kvasir {

// out[i, c] = x[i, c] / sqrt(mean over c of x[i, c]^2 + eps) * weight[c], for
// x, out [n, dim] dense f32, weight [dim]. out may be x. Source: Zhang and
// Sennrich, "Root Mean Square Layer Normalization", 2019.
void RmsNorm(const float* x, const float* weight, float eps, int64_t n, int64_t dim, float* out);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_RMS_NORM_H_
