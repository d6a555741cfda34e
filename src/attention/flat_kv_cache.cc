#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "attention/kv_cache.h"
#include "base/aligned_buffer.h"
#include "base/checked_math.h"
#include "kernels/convert.h"

namespace kvasir {
namespace {

void StoreRow(const float* in, int64_t n, float* out) {
  std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
}
void StoreRow(const float* in, int64_t n, uint16_t* out) { F32ToF16(in, n, out); }

bool HasShape(const View4<const float>& rows, const KvCacheShape& shape) {
  return rows.batch() == 1 && rows.heads() == shape.kv_heads && rows.seq() >= 1 &&
         rows.dim() == shape.head_dim;
}

// T: float, or uint16_t for binary16.
template <class T>
class FlatKvCache : public KvCache {
 public:
  FlatKvCache(KvType type, const KvCacheShape& shape, AlignedBuffer k, AlignedBuffer v)
      : type_(type), shape_(shape), k_(std::move(k)), v_(std::move(v)) {}

  Status Update(int64_t start, const View4<const float>& k, const View4<const float>& v) override {
    if (!HasShape(k, shape_) || !HasShape(v, shape_) || k.seq() != v.seq()) {
      return InvalidArgument("keys and values must both be [1, " + std::to_string(shape_.kv_heads) +
                             ", S, " + std::to_string(shape_.head_dim) + "] with S of at least 1");
    }
    if (start < 0 || start > length_) {
      return InvalidArgument("position " + std::to_string(start) + " does not follow the " +
                             std::to_string(length_) + " stored ones");
    }
    if (k.seq() > shape_.capacity - start) {
      return ContextOverflow(std::to_string(k.seq()) + " rows from position " +
                             std::to_string(start) + " on do not fit in a cache of " +
                             std::to_string(shape_.capacity));
    }
    Store(k, start, k_.as<T>());
    Store(v, start, v_.as<T>());
    length_ = start + k.seq();
    return Status();
  }

  KvRuns Runs() const override {
    KvRuns runs;
    if (length_ == 0) return runs;
    runs.count = 1;
    runs.run[0].k = Rows(k_);
    runs.run[0].v = Rows(v_);
    return runs;
  }

  KvType type() const override { return type_; }
  int64_t length() const override { return length_; }
  int64_t capacity() const override { return shape_.capacity; }
  int64_t bytes() const override { return static_cast<int64_t>(k_.size() + v_.size()); }

  Status Truncate(int64_t n) override {
    if (n < 0 || n > length_) {
      return InvalidArgument("cannot keep " + std::to_string(n) + " of " + std::to_string(length_) +
                             " positions");
    }
    length_ = n;
    return Status();
  }
  void Clear() override { length_ = 0; }

 private:
  void Store(const View4<const float>& rows, int64_t start, T* out) const {
    for (int64_t h = 0; h < shape_.kv_heads; ++h) {
      for (int64_t s = 0; s < rows.seq(); ++s) {
        T* slot = out + (h * shape_.capacity + start + s) * shape_.head_dim;
        StoreRow(rows.Row(0, h, s), shape_.head_dim, slot);
      }
    }
  }

  KvRows Rows(const AlignedBuffer& memory) const {
    KvRows rows;
    rows.type = type_;
    rows.data = memory.data();
    rows.size = {1, shape_.kv_heads, length_, shape_.head_dim};
    const int64_t head = shape_.capacity * shape_.head_dim;
    rows.stride = {shape_.kv_heads * head, head, shape_.head_dim, 1};
    return rows;
  }

  KvType type_;
  KvCacheShape shape_;
  AlignedBuffer k_, v_;  // [kv_heads, capacity, head_dim]
  int64_t length_ = 0;
};

template <class T>
Result<std::unique_ptr<KvCache>> Make(KvType type, const KvCacheShape& shape, size_t elements) {
  Result<AlignedBuffer> k = AlignedBuffer::Allocate(elements * sizeof(T));
  if (!k.ok()) return k.status();
  Result<AlignedBuffer> v = AlignedBuffer::Allocate(elements * sizeof(T));
  if (!v.ok()) return v.status();
  return std::unique_ptr<KvCache>(
      std::make_unique<FlatKvCache<T>>(type, shape, *std::move(k), *std::move(v)));
}

}  // namespace

Result<std::unique_ptr<KvCache>> MakeFlatKvCache(KvType type, const KvCacheShape& shape) {
  if (shape.kv_heads < 1 || shape.head_dim < 1 || shape.capacity < 1) {
    return InvalidArgument("a KV cache needs at least one head, dimension and position");
  }
  const auto rows = CheckedMul(shape.kv_heads, shape.capacity);
  const auto elements = rows ? CheckedMul(*rows, shape.head_dim) : rows;
  const auto bytes = elements ? CheckedMul(*elements, int64_t{sizeof(float)}) : elements;
  if (!bytes || static_cast<uint64_t>(*bytes) > std::numeric_limits<size_t>::max()) {
    return InvalidArgument("a KV cache of this shape cannot be addressed");
  }
  switch (type) {
    case KvType::kF32:
      return Make<float>(type, shape, static_cast<size_t>(*elements));
    case KvType::kF16:
      return Make<uint16_t>(type, shape, static_cast<size_t>(*elements));
    case KvType::kI8:
      break;
  }
  return InvalidArgument("this KV cache type is not supported");
}

}  // namespace kvasir
