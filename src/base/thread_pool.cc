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
constexpr int kSpins = 200000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// One thread or many wait here for a condition that others make true and then tell
// of. Telling costs a look at a counter while nobody sleeps. The condition is
// written before the counter is read, and the counter before the condition is read
// again, all in one order: one of the two sides sees the other.
class Meeting {
 public:
  template <class Condition>
  void Wait(const Condition& condition) {
    for (int i = 0; i < kSpins; ++i) {
      if (condition()) return;
      Pause();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    changed_.wait(lock, condition);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  void Tell() {
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard<std::mutex> lock(mutex_); }
    changed_.notify_all();
  }

 private:
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

struct ThreadPool::State {
  std::vector<std::thread> threads;
  Task task = nullptr;
  void* context = nullptr;
  std::atomic<uint32_t> epoch{0};  // counts the calls of RunOnAll
  std::atomic<int> running{0};     // workers still inside the current call
  std::atomic<bool> stopping{false};
  Meeting work;
  Meeting done;

  void WorkerLoop(int worker) {
    uint32_t seen = 0;
    while (true) {
      work.Wait([&] { return epoch.load(std::memory_order_seq_cst) != seen; });
      ++seen;  // the caller waits for the end of each call
      if (stopping.load(std::memory_order_acquire)) return;
      task(context, worker);
      if (running.fetch_sub(1, std::memory_order_seq_cst) == 1) done.Tell();
    }
  }

  void Announce() {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    work.Tell();
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
  state.done.Wait([&] { return state.running.load(std::memory_order_seq_cst) == 0; });
}

#else

struct ThreadPool::State {};

ThreadPool::ThreadPool(int /*threads*/) : size_(1) {}
ThreadPool::~ThreadPool() = default;
void ThreadPool::RunOnAll(Task task, void* context) { task(context, 0); }

#endif

}  // namespace kvasir
