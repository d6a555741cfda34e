// What the benchmarks run on, and how they give up.
#ifndef KVASIR_TESTS_BENCH_BENCH_DATA_H_
#define KVASIR_TESTS_BENCH_BENCH_DATA_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "base/status.h"

namespace kvasir {

inline std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

inline void Need(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
}

template <class T>
T Need(Result<T> result) {
  if (!result.ok()) Need(result.status());
  return *std::move(result);
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_BENCH_BENCH_DATA_H_
