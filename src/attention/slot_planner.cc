#include "attention/slot_planner.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/checked_math.h"

namespace kvasir {
namespace {

std::string Text(int64_t n) { return std::to_string(n); }

}  // namespace

Result<SlotPlanner> SlotPlanner::Create(const SlotPlan& plan) {
  if (plan.capacity < 1 || plan.window < 0 || plan.sink < 0 || plan.chunk < 0) {
    return InvalidArgument("a KV cache needs room for at least one position");
  }
  if (plan.window == 0) {
    if (plan.sink > 0) return InvalidArgument("an attention sink needs a window to go with");
    return SlotPlanner({.capacity = plan.capacity}, plan.capacity);
  }
  if (plan.chunk < 1)
    return InvalidArgument("a sliding window needs the size of the largest chunk");
  if (plan.window > plan.capacity - std::min(plan.sink, plan.capacity)) {
    return InvalidArgument("a window of " + Text(plan.window) + " and a sink of " +
                           Text(plan.sink) + " do not fit in a context of " + Text(plan.capacity));
  }
  const auto ring = CheckedAdd(plan.window, plan.chunk - 1);
  if (!ring || !CheckedAdd(*ring, plan.sink)) {
    return InvalidArgument("a chunk of " + Text(plan.chunk) + " positions is too large");
  }
  return SlotPlanner(plan, *ring);
}

SlotRuns SlotPlanner::Runs() const {
  SlotRuns runs;
  const auto add = [&](int64_t position, int64_t end) {
    if (position >= end) return;
    const int64_t slot = SlotOf(position);
    SlotRun* last = runs.count > 0 ? &runs.run[static_cast<size_t>(runs.count - 1)] : nullptr;
    if (last != nullptr && last->first_position + last->count == position &&
        last->first_slot + last->count == slot) {
      last->count += end - position;
    } else {
      runs.run[static_cast<size_t>(runs.count++)] = {position, slot, end - position};
    }
  };
  add(0, std::min(plan_.sink, length_));
  if (oldest_ >= length_) return runs;
  const int64_t before_wrap = slots() - SlotOf(oldest_);
  const int64_t wrap = std::min(length_, oldest_ + before_wrap);
  add(oldest_, wrap);
  add(wrap, length_);
  return runs;
}

Status SlotPlanner::CheckRewind(int64_t n) const {
  if (n < 0 || n > length_) {
    return InvalidArgument("cannot keep " + Text(n) + " of " + Text(length_) + " positions");
  }
  const int64_t needed = std::max(plan_.sink, n - plan_.window + 1);
  if (plan_.window > 0 && n > plan_.sink && n < length_ && needed < oldest_) {
    return InvalidArgument("cannot go back to position " + Text(n) + ": its window begins at " +
                           Text(needed) + ", and the sliding cache has forgotten what was before " +
                           Text(oldest_));
  }
  return Status();
}

Status SlotPlanner::CheckWrite(int64_t start, int64_t count) const {
  if (start < 0 || start > length_) {
    return InvalidArgument("position " + Text(start) + " does not follow the " + Text(length_) +
                           " stored ones");
  }
  if (count < 1) return InvalidArgument("at least one position must be written");
  if (count > plan_.capacity - start) {
    return ContextOverflow(Text(count) + " rows from position " + Text(start) +
                           " on do not fit in a cache of " + Text(plan_.capacity));
  }
  if (plan_.window > 0 && count > plan_.chunk) {
    return InvalidArgument("a sliding cache made for chunks of " + Text(plan_.chunk) +
                           " positions cannot take " + Text(count));
  }
  return CheckRewind(start);
}

int64_t SlotPlanner::OldestAfter(int64_t length) const {
  return std::max({oldest_, plan_.sink, length - ring_});
}

void SlotPlanner::Write(int64_t start, int64_t count) {
  if (start <= plan_.sink) oldest_ = plan_.sink;
  length_ = start + count;
  oldest_ = OldestAfter(length_);
}

Status SlotPlanner::CheckWrite(std::span<const int64_t> positions) const {
  if (positions.empty()) return InvalidArgument("at least one position must be written");
  std::vector<int64_t> sorted(positions.begin(), positions.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto first_new = std::lower_bound(sorted.begin(), sorted.end(), length_);
  const int64_t added = sorted.end() - first_new;
  if (sorted.front() < 0) {
    return InvalidArgument("position " + Text(sorted.front()) + " is negative");
  }
  if (added > 0) {
    if (sorted.back() >= plan_.capacity) {
      return ContextOverflow("position " + Text(sorted.back()) + " does not fit in a cache of " +
                             Text(plan_.capacity));
    }
    if (sorted.back() - length_ + 1 != added) {
      return InvalidArgument("the positions leave a gap behind the " + Text(length_) +
                             " stored ones");
    }
    if (plan_.window > 0 && added > plan_.chunk) {
      return InvalidArgument("a sliding cache made for chunks of " + Text(plan_.chunk) +
                             " positions cannot take " + Text(added));
    }
  }
  const int64_t oldest = OldestAfter(length_ + added);
  for (int64_t position : sorted) {
    if (position >= plan_.sink && position < oldest) {
      return InvalidArgument("position " + Text(position) +
                             " has left the sliding cache, which begins at " + Text(oldest));
    }
  }
  return Status();
}

void SlotPlanner::Write(std::span<const int64_t> positions) {
  length_ = std::max(length_, *std::max_element(positions.begin(), positions.end()) + 1);
  oldest_ = OldestAfter(length_);
}

Status SlotPlanner::Truncate(int64_t n) {
  if (Status status = CheckRewind(n); !status.ok()) return status;
  length_ = n;
  if (n <= plan_.sink) oldest_ = plan_.sink;
  return Status();
}

void SlotPlanner::Clear() {
  length_ = 0;
  oldest_ = plan_.sink;
}

Status SlotPlanner::Restore(int64_t length, int64_t oldest) {
  const bool plausible = length >= 0 && length <= plan_.capacity && oldest >= plan_.sink &&
                         (oldest == plan_.sink || oldest <= length) && length - oldest <= ring_ &&
                         (plan_.window > 0 || oldest == 0);
  if (!plausible) return MalformedFile("a saved KV cache does not fit the one to be filled");
  length_ = length;
  oldest_ = oldest;
  return Status();
}

}  // namespace kvasir
