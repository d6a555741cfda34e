#include "attention/sdpa.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "attention/sdpa_tile.h"
#include "attention/sdpa_tile_float.h"
#include "attention/sdpa_tile_i8.h"
#include "base/checked_math.h"

namespace kvasir {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Fewer multiply-adds than this are not worth waking a thread for.
constexpr int64_t kWorkPerThread = 32768;

// The scores of int8_t keys are summed in 32 bits, which hold this many products.
constexpr int64_t kMaxIntegerDim = 256;

// Running softmax of a tile of query rows over the keys seen so far. Arrays of
// [kQueryTile] and [kQueryTile, head_dim].
struct Partial {
  float* largest;  // score; -inf before the first visible key
  float* total;    // of exp(score - largest)
  float* sum;      // of exp(score - largest) * v
  float* scores;   // [kQueryTile, kKeyTile], of the current tile of keys
  IntegerQueries integer;
};

int64_t PartialFloats(int64_t head_dim) {
  const int64_t integer = PaddedDim(head_dim) / 2 + 2;
  return kQueryTile * (head_dim + 2 + kKeyTile + integer);
}

// The keys that a query sees come in two parts: those of the attention sink,
// and those behind it (without a sink, all).
constexpr int kSinkPart = 0, kParts = 2;
using Visible = std::array<KeyRange, kParts>;

int64_t Count(const KeyRange& keys) { return std::max<int64_t>(keys.end - keys.begin, 0); }

}  // namespace

Result<SdpaScratch> SdpaScratch::Create(int threads, int64_t query_heads, int64_t head_dim) {
  if (threads < 1 || query_heads < 1 || head_dim < 1) {
    return InvalidArgument("SDPA scratch needs a thread, a head and a dimension");
  }
  // Twice as many partial results as threads: see SdpaRunner::Run.
  const auto floats = CheckedMul(PartialFloats(head_dim), int64_t{2} * threads);
  const auto bytes = floats ? CheckedMul(*floats, int64_t{sizeof(float)}) : floats;
  if (!bytes) return InvalidArgument("SDPA scratch of this shape cannot be addressed");
  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  SdpaScratch scratch;
  scratch.threads_ = threads;
  scratch.query_heads_ = query_heads;
  scratch.head_dim_ = head_dim;
  scratch.memory_ = *std::move(memory);
  return scratch;
}

// One call. An item is a tile of query rows of the heads that share a KV head:
// query u of KV head j is row u / group, head j * group + u % group.
class SdpaRunner {
 public:
  SdpaRunner(const View4<const float>& q, const KvRuns& kv, const MaskRule& mask,
             const SdpaOptions& options, const View4<float>& out, SdpaScratch& scratch)
      : q_(q), kv_(kv), mask_(mask), options_(options), out_(out), scratch_(scratch) {}

  Status Check(const ThreadPool& pool) const;
  int64_t Run(ThreadPool& pool);

 private:
  struct Item {
    int64_t batch, kv_head, first, count;  // queries [first, first + count)
  };

  Item ItemAt(int64_t index) const;
  KeyRange VisibleKeys(int64_t row, int part) const;
  Visible VisibleKeys(const Item& item) const;
  Partial PartialAt(int64_t index) const;

  void Begin(const Item& item, const Partial& partial) const;
  void Attend(const Item& item, int64_t split, int64_t splits, const Partial& partial) const;
  template <class T>
  void AttendPart(const Item& item, int part, KeyRange keys, const Partial& partial) const;
  bool Softmax(const Item& item, int part, KeyRange keys, const Partial& partial) const;
  void Merge(const Item& item, const Partial& into, const Partial& from) const;
  int64_t Finish(const Item& item, const Partial& partial) const;

  int64_t RowOf(const Item& item, int64_t u) const { return (item.first + u) / group_; }
  int64_t HeadOf(const Item& item, int64_t u) const {
    return item.kv_head * group_ + (item.first + u) % group_;
  }

  const View4<const float>& q_;
  const KvRuns& kv_;
  const MaskRule& mask_;
  const SdpaOptions& options_;
  const View4<float>& out_;
  SdpaScratch& scratch_;
  int64_t kv_heads_ = 1;
  int64_t group_ = 1;  // query heads a KV head
  int64_t tiles_ = 0;  // items a batch entry and KV head
  int64_t sink_ = 0;   // keys of the sink
  KeyRange stored_;    // positions that the runs hold
};

Status SdpaRunner::Check(const ThreadPool& pool) const {
  if (q_.size != out_.size) return InvalidArgument("SDPA: out must have the shape of q");
  if (!(options_.scale > 0)) return InvalidArgument("SDPA: scale must be above 0");
  if (scratch_.threads_ < pool.size() || scratch_.head_dim_ < q_.dim() ||
      scratch_.query_heads_ < q_.heads()) {
    return InvalidArgument("SDPA: the scratch was made for a smaller shape");
  }
  if (!mask_.ranges.empty() && static_cast<int64_t>(mask_.ranges.size()) != q_.seq()) {
    return InvalidArgument("SDPA: the mask must have one range a query row");
  }
  if (options_.sink_query != nullptr && options_.sink_query->size != q_.size) {
    return InvalidArgument("SDPA: the queries for the sink must have the shape of q");
  }
  const KvRows& first = kv_.run[0].k;
  for (int i = 0; i < kv_.count; ++i) {
    const KvRun& run = kv_.run[static_cast<size_t>(i)];
    for (const KvRows* rows : {&run.k, &run.v}) {
      const bool sized = rows->size[0] == q_.batch() && rows->size[1] == first.size[1] &&
                         rows->size[2] == run.k.size[2] && rows->size[3] == q_.dim();
      if (!sized || rows->type != first.type || rows->size[1] < 1 ||
          q_.heads() % rows->size[1] != 0) {
        return InvalidArgument(
            "SDPA: keys and values must be [B, H_kv, S, D] of the same type, "
            "with B and D of q and H_q a multiple of H_kv");
      }
      const bool quantized =
          rows->scale != nullptr && rows->zero_point != nullptr && rows->quant_stride[2] == 1;
      if (rows->type == KvType::kI8 && !quantized) {
        return InvalidArgument(
            "SDPA: i8 rows need scales and zero points that lie together, and D of at most " +
            std::to_string(kMaxIntegerDim));
      }
    }
  }
  return Status();
}

int64_t SdpaRunner::Run(ThreadPool& pool) {
  if (q_.batch() == 0 || q_.seq() == 0 || q_.heads() == 0) return 0;
  if (kv_.count > 0) {
    kv_heads_ = kv_.run[0].k.size[1];
    const KvRun& last = kv_.run[static_cast<size_t>(kv_.count - 1)];
    stored_ = {kv_.run[0].first_position, last.first_position + last.k.size[2]};
  }
  sink_ = mask_.window > 0 ? mask_.sink : 0;
  group_ = q_.heads() / kv_heads_;
  tiles_ = (q_.seq() * group_ + kQueryTile - 1) / kQueryTile;
  const int64_t items = q_.batch() * kv_heads_ * tiles_;
  const int64_t work = 2 * q_.heads() * q_.seq() * q_.dim() * (stored_.end - stored_.begin);
  const bool parallel = work > kWorkPerThread;
  // Fewer items than threads (decode): each is split over ranges of keys, so
  // that at most 2 * threads partial results exist.
  const int64_t splits = !parallel || items >= pool.size() ? 1 : (pool.size() + items - 1) / items;
  const int64_t grain = parallel ? 1 : items;
  std::atomic<int64_t> blind{0};
  pool.ForEachRange(items * splits, grain, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin; i < end; ++i) {
      const Item item = ItemAt(i / splits);
      const Partial partial = PartialAt(splits == 1 ? worker : i);
      Begin(item, partial);
      Attend(item, i % splits, splits, partial);
      if (splits == 1) blind.fetch_add(Finish(item, partial), std::memory_order_relaxed);
    }
  });
  if (splits > 1) {
    for (int64_t i = 0; i < items; ++i) {
      const Partial whole = PartialAt(i * splits);
      for (int64_t s = 1; s < splits; ++s) Merge(ItemAt(i), whole, PartialAt(i * splits + s));
      blind += Finish(ItemAt(i), whole);
    }
  }
  return blind;
}

SdpaRunner::Item SdpaRunner::ItemAt(int64_t index) const {
  Item item{};
  const int64_t tile = index % tiles_;
  item.kv_head = index / tiles_ % kv_heads_;
  item.batch = index / tiles_ / kv_heads_;
  item.first = tile * kQueryTile;
  item.count = std::min(kQueryTile, q_.seq() * group_ - item.first);
  return item;
}

KeyRange SdpaRunner::VisibleKeys(int64_t row, int part) const {
  KeyRange keys = stored_;
  const int64_t position = mask_.start + row;
  if (mask_.causal) keys.end = std::min(keys.end, position + 1);
  if (!mask_.ranges.empty()) {
    const KeyRange& range = mask_.ranges[static_cast<size_t>(row)];
    keys.begin = std::max(keys.begin, range.begin);
    keys.end = std::min(keys.end, range.end);
  }
  if (part == kSinkPart) {
    keys.end = std::min(keys.end, sink_);
  } else {
    keys.begin = std::max(keys.begin, sink_);
    if (mask_.window > 0) keys.begin = std::max(keys.begin, position + 1 - mask_.window);
  }
  return keys;
}

Visible SdpaRunner::VisibleKeys(const Item& item) const {
  Visible visible;
  for (int part = 0; part < kParts; ++part) {
    KeyRange& keys = visible[static_cast<size_t>(part)];
    for (int64_t row = RowOf(item, 0); row <= RowOf(item, item.count - 1); ++row) {
      const KeyRange of_row = VisibleKeys(row, part);
      if (Count(of_row) == 0) continue;
      const bool first = Count(keys) == 0;
      keys.begin = first ? of_row.begin : std::min(keys.begin, of_row.begin);
      keys.end = first ? of_row.end : std::max(keys.end, of_row.end);
    }
  }
  return visible;
}

Partial SdpaRunner::PartialAt(int64_t index) const {
  float* memory = scratch_.memory_.as<float>() + index * PartialFloats(scratch_.head_dim_);
  Partial partial{};
  partial.scores = memory;
  partial.sum = partial.scores + kQueryTile * kKeyTile;
  partial.largest = partial.sum + kQueryTile * scratch_.head_dim_;
  partial.total = partial.largest + kQueryTile;
  partial.integer.unit = partial.total + kQueryTile;
  partial.integer.sum = reinterpret_cast<int32_t*>(partial.integer.unit + kQueryTile);
  partial.integer.value = reinterpret_cast<int16_t*>(partial.integer.sum + kQueryTile);
  return partial;
}

void SdpaRunner::Begin(const Item& item, const Partial& partial) const {
  std::fill_n(partial.largest, item.count, kMinusInfinity);
  std::fill_n(partial.total, item.count, 0.0f);
  std::fill_n(partial.sum, item.count * q_.dim(), 0.0f);
}

// The keys of one of `splits` equal shares of all that the item sees.
void SdpaRunner::Attend(const Item& item, int64_t split, int64_t splits,
                        const Partial& partial) const {
  const Visible visible = VisibleKeys(item);
  const int64_t total = Count(visible[0]) + Count(visible[1]);
  const KeyRange share{total * split / splits, total * (split + 1) / splits};
  int64_t before = 0;  // keys of the parts before
  for (int part = 0; part < kParts; ++part) {
    const KeyRange& keys = visible[static_cast<size_t>(part)];
    const int64_t count = Count(keys);
    const KeyRange of_part{keys.begin + std::clamp<int64_t>(share.begin - before, 0, count),
                           keys.begin + std::clamp<int64_t>(share.end - before, 0, count)};
    before += count;
    if (Count(of_part) == 0 || kv_.count == 0) continue;
    switch (kv_.run[0].k.type) {
      case KvType::kF32:
        AttendPart<float>(item, part, of_part, partial);
        break;
      case KvType::kF16:
        AttendPart<uint16_t>(item, part, of_part, partial);
        break;
      case KvType::kI8:
        AttendPart<int8_t>(item, part, of_part, partial);
        break;
    }
  }
}

template <class T>
void SdpaRunner::AttendPart(const Item& item, int part, KeyRange keys,
                            const Partial& partial) const {
  const bool turned = part == kSinkPart && options_.sink_query != nullptr;
  const View4<const float>& q = turned ? *options_.sink_query : q_;
  TileQueries queries{.row = {}, .count = item.count, .dim = q_.dim(), .scale = options_.scale};
  for (int64_t u = 0; u < item.count; ++u) {
    queries.row[u] = q.Row(item.batch, HeadOf(item, u), RowOf(item, u));
  }
  PrepareQueries<T>(queries, partial.integer);
  for (int i = 0; i < kv_.count; ++i) {
    const KvRun& run = kv_.run[static_cast<size_t>(i)];
    const int64_t end = std::min(keys.end, run.first_position + run.k.size[2]);
    for (int64_t key = std::max(keys.begin, run.first_position); key < end; key += kKeyTile) {
      const KeyRange tile{key, std::min(end, key + kKeyTile)};
      const auto rows = [&](const KvRows& stored) {
        const int64_t row = key - run.first_position;
        const int64_t quant =
            item.batch * stored.quant_stride[0] + item.kv_head * stored.quant_stride[1] + row;
        return TileRows<T>{
            static_cast<const T*>(stored.data) + item.batch * stored.stride[0] +
                item.kv_head * stored.stride[1] + row * stored.stride[2],
            stored.stride[2], stored.scale == nullptr ? nullptr : stored.scale + quant,
            stored.zero_point == nullptr ? nullptr : stored.zero_point + quant, Count(tile)};
      };
      ScoreTile(queries, partial.integer, rows(run.k), partial.scores);
      if (!Softmax(item, part, tile, partial)) continue;
      AddValueTile(queries, rows(run.v), partial.scores, partial.sum);
    }
  }
}

// Turns the tile's dot products into weights, and rescales what was summed
// before. False when no query sees any of the keys.
bool SdpaRunner::Softmax(const Item& item, int part, KeyRange keys, const Partial& partial) const {
  const int64_t count = keys.end - keys.begin;
  bool any = false;
  for (int64_t u = 0; u < item.count; ++u) {
    float* scores = partial.scores + u * kKeyTile;
    const int64_t row = RowOf(item, u);
    KeyRange visible = VisibleKeys(row, part);
    visible.begin = std::clamp<int64_t>(visible.begin - keys.begin, 0, count);
    visible.end = std::clamp<int64_t>(visible.end - keys.begin, visible.begin, count);
    if (options_.soft_cap > 0) Cap(scores, count, options_.soft_cap);
    if (mask_.bias.data != nullptr) {
      const float* bias = mask_.bias.Row(HeadOf(item, u), row) + keys.begin;
      for (int64_t s = 0; s < count; ++s) scores[s] += bias[s];
    }
    if (mask_.visible.data != nullptr) {
      const uint8_t* sees = mask_.visible.Row(HeadOf(item, u), row) + keys.begin;
      for (int64_t s = 0; s < count; ++s) scores[s] = sees[s] != 0 ? scores[s] : kMinusInfinity;
    }
    std::fill(scores, scores + visible.begin, kMinusInfinity);
    std::fill(scores + visible.end, scores + count, kMinusInfinity);
    const float largest = Largest(scores, count);
    if (largest == kMinusInfinity) {
      std::fill_n(scores, kKeyTile, 0.0f);
      continue;
    }
    any = true;
    if (largest > partial.largest[u]) {
      const float factor = std::exp(partial.largest[u] - largest);
      Scale(partial.sum + u * q_.dim(), q_.dim(), factor);
      partial.total[u] *= factor;
      partial.largest[u] = largest;
    }
    partial.total[u] += ExpInPlace(scores, count, partial.largest[u]);
  }
  return any;
}

void SdpaRunner::Merge(const Item& item, const Partial& into, const Partial& from) const {
  const int64_t dim = q_.dim();
  for (int64_t u = 0; u < item.count; ++u) {
    if (from.largest[u] == kMinusInfinity) continue;
    const float largest = std::max(into.largest[u], from.largest[u]);
    const float keep = std::exp(into.largest[u] - largest);
    const float add = std::exp(from.largest[u] - largest);
    for (int64_t d = 0; d < dim; ++d) {
      into.sum[u * dim + d] = into.sum[u * dim + d] * keep + from.sum[u * dim + d] * add;
    }
    into.total[u] = into.total[u] * keep + from.total[u] * add;
    into.largest[u] = largest;
  }
}

// Writes the tile's rows; returns how many see no key.
int64_t SdpaRunner::Finish(const Item& item, const Partial& partial) const {
  int64_t blind = 0;
  for (int64_t u = 0; u < item.count; ++u) {
    float* row = out_.Row(item.batch, HeadOf(item, u), RowOf(item, u));
    const float* sum = partial.sum + u * q_.dim();
    const bool sees = partial.total[u] > 0;
    if (!sees) ++blind;
    std::copy_n(sum, q_.dim(), row);
    if (sees) Scale(row, q_.dim(), 1.0f / partial.total[u]);
  }
  return blind;
}

Result<int64_t> Sdpa(const View4<const float>& q, const KvRuns& kv, const MaskRule& mask,
                     const SdpaOptions& options, const View4<float>& out, ThreadPool& pool,
                     SdpaScratch& scratch) {
  SdpaRunner runner(q, kv, mask, options, out, scratch);
  if (Status status = runner.Check(pool); !status.ok()) return status;
  return runner.Run(pool);
}

}  // namespace kvasir
