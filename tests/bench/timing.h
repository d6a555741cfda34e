// Times things side by side: round after round, each in turn, so that what the
// machine does beside hits all of them alike.
#ifndef KVASIR_TESTS_BENCH_TIMING_H_
#define KVASIR_TESTS_BENCH_TIMING_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace kvasir {

inline double Milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Milliseconds of every contender, [contenders, rounds], after a round that
// counts for nothing.
inline std::vector<std::vector<double>> SideBySide(
    int rounds, const std::vector<std::function<void()>>& contenders) {
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double time = Milliseconds(contenders[i]);
      if (round >= 0) times[i].push_back(time);
    }
  }
  return times;
}

// Median over the rounds of a's time by b's.
inline double MedianRatio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return Median(ratios);
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_BENCH_TIMING_H_
