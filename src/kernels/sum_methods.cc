#include "kernels/sum_methods.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kernels/weight_matmul.h"

namespace kvasir {
namespace {

#if KVASIR_DOTS_BYTES

using Clock = std::chrono::steady_clock;

constexpr int64_t kRows = 64, kCols = 512;
constexpr auto kTime = std::chrono::milliseconds(10);

// A method must be this much faster than one that is named before it.
constexpr double kClearly = 0.97;

// Takes turns for kTime, in which engines come to their best code, and compares the
// best times.
SumMethod Fastest(TensorType type, std::initializer_list<SumMethod> methods) {
  Result<WeightMatrixBuilder> builder = WeightMatrixBuilder::Create(type, kRows, kCols);
  if (!builder.ok()) return *methods.begin();
  std::memset(builder->raw().data(), 0x11, builder->raw().size());
  const Result<WeightMatrix> w = builder->Finish();
  Result<QuantizedInput> input = QuantizedInput::Create(kPanelRows, kCols);
  if (!w.ok() || !input.ok()) return *methods.begin();
  ThreadPool pool(1);
  const std::vector<float> x(static_cast<size_t>(kPanelRows * kCols), 0.5f);
  std::vector<float> y(static_cast<size_t>(kPanelRows * kRows));
  input->Set(x.data(), kPanelRows, kCols, pool);

  constexpr auto kNever = Clock::duration::max();
  Clock::duration best[] = {kNever, kNever, kNever};
  const Clock::time_point end = Clock::now() + kTime;
  for (Clock::time_point now = Clock::now(); now < end;) {
    for (SumMethod method : methods) {
      MatMul({{&*w, nullptr, y.data()}}, *input, pool, {.small = method, .bytes = method});
      const Clock::time_point then = Clock::now();
      Clock::duration& of_method = best[static_cast<size_t>(method)];
      of_method = std::min(of_method, then - now);
      now = then;
    }
  }
  const auto time = [&](SumMethod method) {
    return static_cast<double>(best[static_cast<size_t>(method)].count());
  };
  SumMethod fastest = *methods.begin();
  for (SumMethod method : methods) {
    if (time(method) < kClearly * time(fastest)) fastest = method;
  }
  return fastest;
}

SumMethods Measure() {
  return {.small = Fastest(TensorType::kQ4_0, {SumMethod::kPairs, SumMethod::kQuads}),
          .bytes = Fastest(TensorType::kQ8_0, {SumMethod::kQuads, SumMethod::kWords})};
}

#else

SumMethods Measure() { return {}; }

#endif

}  // namespace

const SumMethods& FastestSumMethods() {
  static const SumMethods methods = Measure();
  return methods;
}

}  // namespace kvasir
