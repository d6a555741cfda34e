// A fixed set of threads that run the same function together and meet at its
// end. In builds without threads everything runs on the caller.
#ifndef KVASIR_BASE_THREAD_POOL_H_
#define KVASIR_BASE_THREAD_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
#define KVASIR_HAS_THREADS 1
#else
#define KVASIR_HAS_THREADS 0
#endif

namespace kvasir {

class ThreadPool {
 public:
  // `threads` counts the caller too: 1 starts none. Clamped to at least 1, and
  // to 1 where the build has no threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls fn(worker) once for every worker in 0..size()-1, worker 0 on the
  // caller, and returns when all are done. Not reentrant, one caller at a time.
  template <class F>
  void Run(F&& fn) {
    if (size_ == 1) {
      fn(0);
    } else {
      using Function = std::remove_reference_t<F>;
      RunOnAll([](void* context, int worker) { (*static_cast<Function*>(context))(worker); },
               const_cast<void*>(static_cast<const void*>(&fn)));
    }
  }

  // Splits [0, n) evenly into one range a worker, each a multiple of `grain`
  // long but the last, and calls fn(begin, end, worker) for those not empty.
  template <class F>
  void ParallelFor(int64_t n, int64_t grain, F&& fn) {
    const int64_t grains = (n + grain - 1) / grain;
    const auto part = [&](int worker) {
      const int64_t begin = grains * worker / size_ * grain;
      const int64_t end = std::min(n, grains * (worker + 1) / size_ * grain);
      if (begin < end) fn(begin, end, worker);
    };
    if (grains <= 1) {
      if (n > 0) fn(int64_t{0}, n, 0);
      return;
    }
    Run(part);
  }

  // Calls fn(begin, end, worker) for ranges of `grain` that cover [0, n). Whoever is
  // free takes the next, so that a thread that the machine holds up does not hold up
  // the others: for work whose result does not depend on who does it.
  template <class F>
  void ForEachRange(int64_t n, int64_t grain, F&& fn) {
    if (size_ == 1 || n <= grain) {
      if (n > 0) fn(int64_t{0}, n, 0);
      return;
    }
    std::atomic<int64_t> next{0};
    Run([&](int worker) {
      for (;;) {
        const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= n) return;
        fn(begin, std::min(n, begin + grain), worker);
      }
    });
  }

 private:
  using Task = void (*)(void* context, int worker);
  void RunOnAll(Task task, void* context);

  struct State;
  int size_;
  std::unique_ptr<State> state_;
};

}  // namespace kvasir

#endif  // KVASIR_BASE_THREAD_POOL_H_
