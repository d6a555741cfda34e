#include "base/thread_pool.h"

#if KVASIR_HAS_THREADS
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#endif

namespace kvasir {

#if KVASIR_HAS_THREADS

namespace {

// How often a thread looks for work, or the caller for its end, before it
// sleeps: the gap between two stages of a token is shorter than a wake-up.
constexpr int kSpins = 4000;

template <class Condition>
bool SpinUntil(const Condition& condition) {
  for (int i = 0; i < kSpins; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return condition();
}

}  // namespace

struct ThreadPool::State {
  std::vector<std::thread> threads;
  Task task = nullptr;
  void* context = nullptr;
  std::atomic<uint32_t> epoch{0};  // counts the calls of RunOnAll
  std::atomic<int> running{0};     // workers still inside the current call
  std::atomic<bool> stopping{false};
  std::mutex mutex;  // only for sleeping and waking
  std::condition_variable work;
  std::condition_variable done;

  void WorkerLoop(int worker) {
    uint32_t seen = 0;
    while (true) {
      const auto has_work = [&] { return epoch.load(std::memory_order_acquire) != seen; };
      if (!SpinUntil(has_work)) {
        std::unique_lock<std::mutex> lock(mutex);
        work.wait(lock, has_work);
      }
      seen = epoch.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_acquire)) return;
      task(context, worker);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
    }
  }

  void Announce() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      epoch.fetch_add(1, std::memory_order_release);
    }
    work.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : size_(std::max(threads, 1)) {
  if (size_ == 1) return;
  state_ = std::make_unique<State>();
  for (int worker = 1; worker < size_; ++worker) {
    state_->threads.emplace_back([state = state_.get(), worker] { state->WorkerLoop(worker); });
  }
}

ThreadPool::~ThreadPool() {
  if (state_ == nullptr) return;
  state_->stopping.store(true, std::memory_order_release);
  state_->Announce();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::RunOnAll(Task task, void* context) {
  State& state = *state_;
  state.task = task;
  state.context = context;
  state.running.store(size_ - 1, std::memory_order_relaxed);
  state.Announce();
  task(context, 0);
  const auto finished = [&] { return state.running.load(std::memory_order_acquire) == 0; };
  if (!SpinUntil(finished)) {
    std::unique_lock<std::mutex> lock(state.mutex);
    state.done.wait(lock, finished);
  }
}

#else

struct ThreadPool::State {};

ThreadPool::ThreadPool(int /*threads*/) : size_(1) {}
ThreadPool::~ThreadPool() = default;
void ThreadPool::RunOnAll(Task task, void* context) { task(context, 0); }

#endif

}  // namespace kvasir
