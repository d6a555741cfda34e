// Matrix products of weights with activations.
#ifndef KVASIR_KERNELS_MATMUL_H_
#define KVASIR_KERNELS_MATMUL_H_

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/matrix.h"

namespace kvasir {

// y[i, r] = bias[r] + sum over c of w[r, c] * x[i, c], for x [n, w.cols()] and
// y [n, w.rows()], both dense f32; bias [w.rows()] or null. x and y must not
// overlap. Any n >= 0, any number of rows; results for one row of x do not
// depend on n or on the number of threads.
void MatMul(const Matrix& w, const float* x, int64_t n, const float* bias, float* y,
            ThreadPool& pool);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_MATMUL_H_
