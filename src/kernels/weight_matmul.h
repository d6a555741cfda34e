// Products of weight matrices with one input.
#ifndef KVASIR_KERNELS_WEIGHT_MATMUL_H_
#define KVASIR_KERNELS_WEIGHT_MATMUL_H_

#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/thread_pool.h"
#include "kernels/quantized_input.h"
#include "kernels/sum_methods.h"
#include "kernels/weight_matrix.h"

namespace kvasir {

// y[i, r] = bias[r] + sum over c of w[r, c] * x[i, c].
struct WeightProduct {
  const WeightMatrix* w = nullptr;
  const float* bias = nullptr;  // [w.rows()] or null
  float* y = nullptr;           // [x.rows(), w.rows()], dense
};

// Several products with the same input, of which the threads wait for each other
// once. Packed weights meet the input quantized, the others meet it as it is.
// Results for one row of x do not depend on the other rows, on the threads or on the
// methods.
void MatMul(std::span<const WeightProduct> products, const QuantizedInput& x, ThreadPool& pool,
            const SumMethods& methods = FastestSumMethods());
inline void MatMul(std::initializer_list<WeightProduct> products, const QuantizedInput& x,
                   ThreadPool& pool, const SumMethods& methods = FastestSumMethods()) {
  MatMul(std::span(products.begin(), products.size()), x, pool, methods);
}

}  // namespace kvasir

#endif  // KVASIR_KERNELS_WEIGHT_MATMUL_H_
