// Which slot of a cache a position is written to, and which runs of slots a
// read sees. Knows positions and slots only: no tensors.
#ifndef KVASIR_ATTENTION_SLOT_PLANNER_H_
#define KVASIR_ATTENTION_SLOT_PLANNER_H_

#include <array>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace kvasir {

struct SlotPlan {
  int64_t capacity = 0;  // positions from 0 on that may ever be written
  // > 0: a query sees its own position and the window - 1 before it (and the
  // sink). What falls out of every window gives its slot to a new position.
  int64_t window = 0;
  int64_t sink = 0;   // the first positions, which stay; with a window only
  int64_t chunk = 0;  // positions written by one update at most; with a window only
};

// Consecutive positions in consecutive slots.
struct SlotRun {
  int64_t first_position = 0;
  int64_t first_slot = 0;
  int64_t count = 0;
};

struct SlotRuns {
  std::array<SlotRun, 3> run = {};
  int count = 0;
};

// Without a window position p lies in slot p. With one, the sink lies in slots
// [0, sink), and position p behind it in slot sink + (p - sink) % ring, where
// ring = window + chunk - 1: the first row of a chunk still finds its whole
// window after the last row of the chunk was written.
class SlotPlanner {
 public:
  // INVALID_ARGUMENT for a plan that is not positive, whose window and sink are
  // larger than its capacity, or that overflows.
  static Result<SlotPlanner> Create(const SlotPlan& plan);

  const SlotPlan& plan() const { return plan_; }
  int64_t slots() const { return plan_.sink + ring_; }
  int64_t length() const { return length_; }
  // The oldest position behind the sink that is still there.
  int64_t oldest() const { return oldest_; }

  int64_t SlotOf(int64_t position) const {
    return position < plan_.sink ? position : plan_.sink + (position - plan_.sink) % ring_;
  }

  // The stored positions, ascending.
  SlotRuns Runs() const;

  // Whether positions [start, start + count) may be written next, after which
  // nothing behind them is stored. INVALID_ARGUMENT, CONTEXT_OVERFLOW.
  Status CheckWrite(int64_t start, int64_t count) const;
  void Write(int64_t start, int64_t count);  // checked before

  // Whether these positions may be written, in any order and more than once:
  // each one stored already, or among those that follow without a gap.
  Status CheckWrite(std::span<const int64_t> positions) const;
  void Write(std::span<const int64_t> positions);  // checked before

  // Keeps positions [0, n). INVALID_ARGUMENT when n is out of range, or when a
  // row of the window before n is gone.
  Status Truncate(int64_t n);
  void Clear();

  // The state that `length` and `oldest` describe, as read from a file.
  Status Restore(int64_t length, int64_t oldest);

 private:
  explicit SlotPlanner(const SlotPlan& plan, int64_t ring) : plan_(plan), ring_(ring) { Clear(); }

  Status CheckRewind(int64_t n) const;
  int64_t OldestAfter(int64_t length) const;

  SlotPlan plan_;
  int64_t ring_ = 0;
  int64_t length_ = 0;
  int64_t oldest_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SLOT_PLANNER_H_
