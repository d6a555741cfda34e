// Every item of work is done once, by whichever thread.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#ifdef __EMSCRIPTEN_PTHREADS__
#include <unistd.h>

extern "C" unsigned char __heap_base;
#endif

namespace kvasir {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, RangesCoverAllOnce) {
  ThreadPool pool(GetParam());
  for (const int64_t n : {0, 1, 7, 8, 9, 1000}) {
    for (const int64_t grain : {1, 8, 2000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      const auto visit = [&](int64_t begin, int64_t end, int worker) {
        EXPECT_LT(begin, end);
        EXPECT_LT(worker, pool.size());
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      };
      pool.ForEachRange(n, grain, visit);
      for (const auto& count : seen) EXPECT_EQ(count, 1) << n << " in ranges of " << grain;
      pool.ParallelFor(n, grain, visit);
      for (const auto& count : seen) EXPECT_EQ(count, 2) << n << " in ranges of " << grain;
    }
  }
}

TEST(ForEachRangeTest, AThreadThatIsHeldUpDoesNotHoldUpTheOthers) {
  ThreadPool pool(2);
  if (pool.size() < 2) GTEST_SKIP() << "this build has one thread";
  std::atomic<int> others{0};
  pool.ForEachRange(8, 1, [&](int64_t begin, int64_t, int) {
    if (begin != 0) {
      ++others;
      return;
    }
    while (others < 7) {
    }  // what a static split would never finish
  });
  EXPECT_EQ(others, 7);
}

#ifdef __EMSCRIPTEN_PTHREADS__
// Wakes whoever waits at an address of the heap, and counts them.
int WakeAllOfTheHeap() {
  int woken = 0;
  for (int* word = reinterpret_cast<int*>(&__heap_base); word < sbrk(0); ++word) {
    woken += static_cast<int>(__builtin_wasm_memory_atomic_notify(word, -1));
  }
  return woken;
}

TEST(EndedThreadsTest, WaitForNothing) {
  ASSERT_EQ(WakeAllOfTheHeap(), 0);
  { ThreadPool pool(3); }
  // A waiter that is left would take the next wake-up of a mutex that comes to lie there.
  EXPECT_EQ(WakeAllOfTheHeap(), 0);
}
#endif

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace kvasir
