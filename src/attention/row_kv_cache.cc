// The one implementation of KvCache: a planner that knows positions, and memory
// that knows slots.
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "attention/kv_cache.h"
#include "attention/kv_storage.h"
#include "attention/slot_planner.h"

namespace kvasir {
namespace {

// The header of a saved cache.
struct SavedHeader {
  int64_t type = 0, kv_heads = 0, head_dim = 0, capacity = 0;
  int64_t window = 0, sink = 0, chunk = 0;
  int64_t length = 0, oldest = 0;

  bool SameKind(const SavedHeader& other) const {
    return type == other.type && kv_heads == other.kv_heads && head_dim == other.head_dim &&
           capacity == other.capacity && window == other.window && sink == other.sink &&
           chunk == other.chunk;
  }
};

class RowKvCache : public KvCache {
 public:
  RowKvCache(KvType type, const KvCacheShape& shape, SlotPlanner planner, bool append_only)
      : type_(type), shape_(shape), planner_(planner), append_only_(append_only) {}

  // Memory for `slots`; what is stored is kept.
  Status Reserve(int64_t slots) {
    Result<KvStorage> storage = KvStorage::Create(type_, shape_.kv_heads, slots, shape_.head_dim);
    if (!storage.ok()) return storage.status();
    if (storage_.has_value()) CopyStored(*storage_, *storage);
    storage_ = *std::move(storage);
    return Status();
  }

  Status Update(int64_t start, const View4<const float>& k, const View4<const float>& v) override {
    if (Status status = CheckRows(k, v); !status.ok()) return status;
    if (append_only_ && start != length()) {
      return InvalidArgument("a cross-attention cache is appended to: the next position is " +
                             std::to_string(length()) + ", not " + std::to_string(start));
    }
    if (Status status = planner_.CheckWrite(start, k.seq()); !status.ok()) return status;
    if (Status status = GrowTo(start + k.seq()); !status.ok()) return status;
    for (int64_t row = 0; row < k.seq(); ++row) {
      storage_->Store(planner_.SlotOf(start + row), k, v, row);
    }
    planner_.Write(start, k.seq());
    return Status();
  }

  Status UpdateAt(std::span<const int64_t> positions, const View4<const float>& k,
                  const View4<const float>& v) override {
    if (Status status = CheckRows(k, v); !status.ok()) return status;
    if (static_cast<int64_t>(positions.size()) != k.seq()) {
      return InvalidArgument(std::to_string(k.seq()) + " rows need as many positions, not " +
                             std::to_string(positions.size()));
    }
    if (append_only_) {
      return InvalidArgument("a cross-attention cache is appended to, never written over");
    }
    if (Status status = planner_.CheckWrite(positions); !status.ok()) return status;
    for (int64_t row = 0; row < k.seq(); ++row) {
      storage_->Store(planner_.SlotOf(positions[static_cast<size_t>(row)]), k, v, row);
    }
    planner_.Write(positions);
    return Status();
  }

  KvRuns Runs() const override {
    KvRuns runs;
    const SlotRuns slots = planner_.Runs();
    for (int i = 0; i < slots.count; ++i) {
      const SlotRun& run = slots.run[static_cast<size_t>(i)];
      runs.run[static_cast<size_t>(i)] = {storage_->K(run.first_slot, run.count),
                                          storage_->V(run.first_slot, run.count),
                                          run.first_position};
    }
    runs.count = slots.count;
    return runs;
  }

  KvType type() const override { return type_; }
  int64_t length() const override { return planner_.length(); }
  int64_t capacity() const override { return shape_.capacity; }
  int64_t bytes() const override { return storage_.has_value() ? storage_->bytes() : 0; }

  Status Truncate(int64_t n) override { return planner_.Truncate(n); }
  void Clear() override { planner_.Clear(); }

  Result<std::unique_ptr<KvCache>> Fork() const override {
    auto fork = std::make_unique<RowKvCache>(type_, shape_, planner_, append_only_);
    if (storage_.has_value()) {
      if (Status status = fork->Reserve(storage_->slots()); !status.ok()) return status;
      CopyStored(*storage_, *fork->storage_);
    }
    return std::unique_ptr<KvCache>(std::move(fork));
  }

  int64_t SavedBytes() const override {
    int64_t bytes = sizeof(SavedHeader);
    const SlotRuns runs = planner_.Runs();
    for (int i = 0; i < runs.count; ++i) {
      bytes += storage_->SavedBytes(runs.run[static_cast<size_t>(i)].count);
    }
    return bytes;
  }

  void Save(std::span<uint8_t> out) const override {
    const SavedHeader header = Header();
    std::memcpy(out.data(), &header, sizeof(header));
    uint8_t* next = out.data() + sizeof(header);
    const SlotRuns runs = planner_.Runs();
    for (int i = 0; i < runs.count; ++i) {
      const SlotRun& run = runs.run[static_cast<size_t>(i)];
      storage_->Save(run.first_slot, run.count, next);
      next += storage_->SavedBytes(run.count);
    }
  }

  Result<int64_t> Load(std::span<const uint8_t> in) override {
    SavedHeader saved;
    if (in.size() < sizeof(saved)) return MalformedFile("a saved KV cache ends too early");
    std::memcpy(&saved, in.data(), sizeof(saved));
    if (!saved.SameKind(Header())) {
      return MalformedFile("a saved KV cache has another type or shape than the one to be filled");
    }
    SlotPlanner planner = planner_;
    if (Status status = planner.Restore(saved.length, saved.oldest); !status.ok()) return status;
    const SlotRuns runs = planner.Runs();
    int64_t rows = 0;
    for (int i = 0; i < runs.count; ++i) rows += runs.run[static_cast<size_t>(i)].count;
    const int64_t row_bytes = 2 * shape_.kv_heads * KvRowBytes(type_, shape_.head_dim);
    const int64_t available = static_cast<int64_t>(in.size() - sizeof(saved));
    if (rows > available / row_bytes) return MalformedFile("a saved KV cache ends too early");
    if (Status status = GrowTo(saved.length); !status.ok()) return status;

    const uint8_t* next = in.data() + sizeof(saved);
    for (int i = 0; i < runs.count; ++i) {
      const SlotRun& run = runs.run[static_cast<size_t>(i)];
      storage_->Load(run.first_slot, run.count, next);
      next += run.count * row_bytes;
    }
    planner_ = planner;
    return static_cast<int64_t>(sizeof(saved)) + rows * row_bytes;
  }

 private:
  Status CheckRows(const View4<const float>& k, const View4<const float>& v) const {
    const auto fits = [&](const View4<const float>& rows) {
      return rows.batch() == 1 && rows.heads() == shape_.kv_heads && rows.seq() >= 1 &&
             rows.dim() == shape_.head_dim && rows.stride[3] == 1;
    };
    if (fits(k) && fits(v) && k.seq() == v.seq()) return Status();
    return InvalidArgument("keys and values must both be [1, " + std::to_string(shape_.kv_heads) +
                           ", S, " + std::to_string(shape_.head_dim) +
                           "] with S of at least 1 and the last dimension contiguous");
  }

  // Cross caches only grow as they are filled; the others have all their slots.
  Status GrowTo(int64_t positions) {
    const int64_t slots = storage_.has_value() ? storage_->slots() : 0;
    return append_only_ && slots < positions ? Reserve(positions) : Status();
  }

  void CopyStored(const KvStorage& from, KvStorage& to) const {
    const SlotRuns runs = planner_.Runs();
    for (int i = 0; i < runs.count; ++i) {
      const SlotRun& run = runs.run[static_cast<size_t>(i)];
      to.CopyFrom(from, run.first_slot, run.count);
    }
  }

  SavedHeader Header() const {
    const SlotPlan& plan = planner_.plan();
    return {static_cast<int64_t>(type_),
            shape_.kv_heads,
            shape_.head_dim,
            shape_.capacity,
            plan.window,
            plan.sink,
            plan.chunk,
            planner_.length(),
            planner_.oldest()};
  }

  KvType type_;
  KvCacheShape shape_;
  SlotPlanner planner_;
  bool append_only_;
  std::optional<KvStorage> storage_;
};

Result<std::unique_ptr<KvCache>> Make(KvType type, const KvCacheShape& shape, const SlotPlan& plan,
                                      bool append_only) {
  if (shape.kv_heads < 1 || shape.head_dim < 1) {
    return InvalidArgument("a KV cache needs at least one head and dimension");
  }
  Result<SlotPlanner> planner = SlotPlanner::Create(plan);
  if (!planner.ok()) return planner.status();
  auto cache = std::make_unique<RowKvCache>(type, shape, *planner, append_only);
  if (!append_only) {
    if (Status status = cache->Reserve(planner->slots()); !status.ok()) return status;
  }
  return std::unique_ptr<KvCache>(std::move(cache));
}

}  // namespace

Result<std::unique_ptr<KvCache>> MakeFlatKvCache(KvType type, const KvCacheShape& shape) {
  return Make(type, shape, {.capacity = shape.capacity}, false);
}

Result<std::unique_ptr<KvCache>> MakeSlidingKvCache(KvType type, const KvCacheShape& shape,
                                                    const SlidingWindow& sliding) {
  if (sliding.window < 1) return InvalidArgument("a sliding window holds at least one position");
  return Make(type, shape,
              {.capacity = shape.capacity,
               .window = sliding.window,
               .sink = sliding.sink,
               .chunk = sliding.chunk},
              false);
}

Result<std::unique_ptr<KvCache>> MakeCrossKvCache(KvType type, const KvCacheShape& shape) {
  return Make(type, shape, {.capacity = shape.capacity}, true);
}

}  // namespace kvasir
