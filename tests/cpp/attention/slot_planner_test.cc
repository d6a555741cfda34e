#include "attention/slot_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace kvasir {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

SlotPlanner Planner(const SlotPlan& plan) {
  Result<SlotPlanner> planner = SlotPlanner::Create(plan);
  EXPECT_TRUE(planner.ok()) << planner.status().message();
  return *planner;
}

// Memory with nothing but the position that was written last to each slot.
struct Slots {
  explicit Slots(const SlotPlan& plan)
      : planner(Planner(plan)), held(static_cast<size_t>(planner.slots()), -1) {}

  Status Write(int64_t start, int64_t count) {
    if (Status status = planner.CheckWrite(start, count); !status.ok()) return status;
    for (int64_t p = start; p < start + count; ++p) {
      held[static_cast<size_t>(planner.SlotOf(p))] = p;
    }
    planner.Write(start, count);
    return Status();
  }

  // The positions that the runs claim, after checking them against what is held.
  std::vector<int64_t> Positions() const {
    std::vector<int64_t> positions;
    const SlotRuns runs = planner.Runs();
    for (int i = 0; i < runs.count; ++i) {
      const SlotRun& run = runs.run[static_cast<size_t>(i)];
      for (int64_t j = 0; j < run.count; ++j) {
        EXPECT_EQ(held[static_cast<size_t>(run.first_slot + j)], run.first_position + j);
        positions.push_back(run.first_position + j);
      }
    }
    EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
    return positions;
  }

  bool Holds(int64_t position) const {
    const std::vector<int64_t> positions = Positions();
    return std::find(positions.begin(), positions.end(), position) != positions.end();
  }

  SlotPlanner planner;
  std::vector<int64_t> held;
};

TEST(SlotPlannerTest, AFlatCacheHasASlotForEveryPosition) {
  Slots slots({.capacity = 10});
  EXPECT_EQ(slots.planner.slots(), 10);
  EXPECT_EQ(slots.planner.Runs().count, 0);
  ASSERT_TRUE(slots.Write(0, 7).ok());
  ASSERT_TRUE(slots.Write(7, 3).ok());
  EXPECT_EQ(slots.planner.Runs().count, 1);
  EXPECT_EQ(slots.Positions().size(), 10u);
  EXPECT_EQ(slots.Write(10, 1).code(), ErrorCode::kContextOverflow);
}

TEST(SlotPlannerTest, ARingHasRoomForTheWindowOfTheFirstRowOfAChunk) {
  EXPECT_EQ(Planner({.capacity = 100, .window = 8, .chunk = 5}).slots(), 12);
  EXPECT_EQ(Planner({.capacity = 100, .window = 8, .sink = 3, .chunk = 5}).slots(), 15);
}

// Chunks of window - 1, window, window + 1 and 2 * window, straddling every wrap.
TEST(SlotPlannerTest, EveryRowFindsItsWindowAndTheSinkWhateverTheChunks) {
  for (int64_t window : {1, 2, 7, 16}) {
    for (int64_t sink : {0, 1, 4}) {
      for (int64_t chunk : {window - 1, window, window + 1, 2 * window, 2 * window + 3}) {
        if (chunk < 1) continue;
        Slots slots({.capacity = 1000, .window = window, .sink = sink, .chunk = chunk});
        std::mt19937 random(static_cast<uint32_t>(window * 100 + sink * 10 + chunk));
        int64_t start = 0;
        while (start < 400) {
          const int64_t count = 1 + static_cast<int64_t>(random() % static_cast<uint32_t>(chunk));
          ASSERT_TRUE(slots.Write(start, count).ok());
          const std::vector<int64_t> positions = slots.Positions();
          const std::vector<int64_t>& held = positions;
          EXPECT_LE(slots.planner.Runs().count, sink > 0 ? 3 : 2);
          for (int64_t p = 0; p < start + count; ++p) {
            const bool seen = p < sink || p > start - window;
            if (seen) {
              ASSERT_TRUE(std::binary_search(held.begin(), held.end(), p))
                  << "window " << window << ", sink " << sink << ", chunk " << chunk << ", start "
                  << start << ", position " << p;
            }
          }
          start += count;
        }
      }
    }
  }
}

TEST(SlotPlannerTest, RewindingIsRefusedWhenRowsOfTheWindowAreGone) {
  Slots slots({.capacity = 1000, .window = 8, .sink = 2, .chunk = 4});
  for (int64_t start = 0; start < 40; start += 4) ASSERT_TRUE(slots.Write(start, 4).ok());
  // 11 slots behind the sink hold [29, 40): position 36 looks back to 29.
  EXPECT_EQ(slots.planner.oldest(), 29);
  EXPECT_EQ(slots.planner.Truncate(35).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(slots.Write(35, 1).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(slots.planner.length(), 40);
  EXPECT_TRUE(slots.planner.Truncate(36).ok());
  EXPECT_TRUE(slots.Holds(29));
  EXPECT_FALSE(slots.Holds(36));
  // Into the sink: nothing behind it is needed.
  EXPECT_TRUE(slots.planner.Truncate(2).ok());
  EXPECT_EQ(slots.Positions(), (std::vector<int64_t>{0, 1}));
  ASSERT_TRUE(slots.Write(2, 4).ok());
  EXPECT_EQ(slots.Positions(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

// Rows that were overwritten must not come back by truncating.
TEST(SlotPlannerTest, AfterRewindingOnlyWhatIsThereIsSeen) {
  Slots slots({.capacity = 1000, .window = 8, .chunk = 4});
  for (int64_t start = 0; start < 40; start += 4) ASSERT_TRUE(slots.Write(start, 4).ok());
  ASSERT_TRUE(slots.planner.Truncate(37).ok());
  EXPECT_EQ(slots.Positions().front(), 29);
  ASSERT_TRUE(slots.Write(37, 1).ok());
  EXPECT_EQ(slots.Positions().front(), 29);
  ASSERT_TRUE(slots.Write(38, 4).ok());
  EXPECT_EQ(slots.Positions().front(), 31);
}

TEST(SlotPlannerTest, ClearForgetsTheCursor) {
  for (int64_t window : {0, 8}) {
    Slots slots({.capacity = 100, .window = window, .chunk = window == 0 ? 0 : 30});
    ASSERT_TRUE(slots.Write(0, 30).ok());
    slots.planner.Clear();
    EXPECT_EQ(slots.planner.length(), 0);
    EXPECT_EQ(slots.planner.Runs().count, 0);
    ASSERT_TRUE(slots.Write(0, 3).ok());
    EXPECT_EQ(slots.Positions(), (std::vector<int64_t>{0, 1, 2}));
  }
}

TEST(SlotPlannerTest, PositionsOutOfRangeAreRefused) {
  for (int64_t window : {0, 8}) {
    SlotPlanner planner =
        Planner({.capacity = 100, .window = window, .chunk = window == 0 ? 0 : 50});
    planner.Write(0, 5);
    EXPECT_EQ(planner.CheckWrite(-1, 1).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(6, 1).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(int64_t{1} << 31, 1).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(kMax, kMax).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(std::numeric_limits<int64_t>::min(), 1).code(),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(5, 0).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(5, -3).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(planner.CheckWrite(5, 96).code(), ErrorCode::kContextOverflow);
    EXPECT_EQ(planner.CheckWrite(5, kMax).code(), ErrorCode::kContextOverflow);
  }
}

TEST(SlotPlannerTest, AChunkLongerThanARingWasMadeForIsRefused) {
  const SlotPlanner planner = Planner({.capacity = 100, .window = 8, .chunk = 5});
  EXPECT_TRUE(planner.CheckWrite(0, 5).ok());
  EXPECT_EQ(planner.CheckWrite(0, 6).code(), ErrorCode::kInvalidArgument);
}

TEST(SlotPlannerTest, AListMayRewriteAndExtendWithoutAGap) {
  SlotPlanner planner = Planner({.capacity = 12});
  planner.Write(0, 4);
  const auto check = [&](std::vector<int64_t> positions) { return planner.CheckWrite(positions); };
  EXPECT_TRUE(check({3, 0, 3}).ok());
  EXPECT_TRUE(check({5, 4, 1}).ok());
  EXPECT_EQ(check({}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(check({5}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(check({4, 6}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(check({-1, 4}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(check({4, 12}).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(check({kMax}).code(), ErrorCode::kContextOverflow);
  planner.Write(std::vector<int64_t>{5, 4, 1});
  EXPECT_EQ(planner.length(), 6);
}

TEST(SlotPlannerTest, AListCannotReachWhatARingHasForgotten) {
  SlotPlanner planner = Planner({.capacity = 100, .window = 4, .sink = 1, .chunk = 2});
  for (int64_t p = 0; p < 20; ++p) planner.Write(p, 1);
  EXPECT_EQ(planner.oldest(), 15);
  const auto check = [&](std::vector<int64_t> positions) { return planner.CheckWrite(positions); };
  EXPECT_TRUE(check({0, 15, 19}).ok());
  EXPECT_EQ(check({14}).code(), ErrorCode::kInvalidArgument);
  // 20 takes the slot of 15.
  EXPECT_EQ(check({15, 20}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(check({20, 21, 22}).code(), ErrorCode::kInvalidArgument);
}

TEST(SlotPlannerTest, PlansThatCannotBeAreRefused) {
  const auto code = [](const SlotPlan& plan) { return SlotPlanner::Create(plan).status().code(); };
  EXPECT_EQ(code({.capacity = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .sink = 2}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = 4}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = -4, .chunk = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = 11, .chunk = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = 8, .sink = 3, .chunk = 1}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = kMax, .window = kMax, .chunk = 2}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = 4, .sink = kMax, .chunk = 2}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.capacity = 10, .window = 10, .chunk = 3}), ErrorCode::kOk);
}

TEST(SlotPlannerTest, OnlyAPlausibleStateIsRestored) {
  SlotPlanner flat = Planner({.capacity = 10});
  EXPECT_TRUE(flat.Restore(10, 0).ok());
  EXPECT_EQ(flat.Restore(11, 0).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(flat.Restore(-1, 0).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(flat.Restore(5, 2).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(flat.length(), 10);
  SlotPlanner ring = Planner({.capacity = 100, .window = 6, .sink = 2, .chunk = 3});
  EXPECT_TRUE(ring.Restore(50, 42).ok());
  EXPECT_EQ(ring.Restore(50, 41).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(ring.Restore(50, 51).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(ring.Restore(50, 1).code(), ErrorCode::kMalformedFile);
  EXPECT_EQ(ring.Restore(1, 2).code(), ErrorCode::kOk);
}

}  // namespace
}  // namespace kvasir
