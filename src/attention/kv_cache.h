// The keys and values of one layer's past tokens. A cache stores rows and knows
// nothing of attention.
#ifndef KVASIR_ATTENTION_KV_CACHE_H_
#define KVASIR_ATTENTION_KV_CACHE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "attention/kv_view.h"
#include "base/status.h"
#include "base/view.h"

namespace kvasir {

// On an error nothing has changed, byte for byte.
class KvCache {
 public:
  virtual ~KvCache() = default;

  // Stores k and v, [1, kv_heads, S, head_dim], as positions [start, start + S).
  // start may lie at or before length(), never beyond it; length() becomes
  // start + S. INVALID_ARGUMENT for a wrong shape or start, CONTEXT_OVERFLOW
  // beyond capacity().
  virtual Status Update(int64_t start, const View4<const float>& k,
                        const View4<const float>& v) = 0;

  // Stores each row at its own position: one that is stored already, or one of
  // those that follow without a gap. Of two rows for one position the last one
  // wins. Errors as for Update.
  virtual Status UpdateAt(std::span<const int64_t> positions, const View4<const float>& k,
                          const View4<const float>& v) = 0;

  // The stored rows. Valid until the next change of the cache.
  virtual KvRuns Runs() const = 0;

  virtual KvType type() const = 0;
  virtual int64_t length() const = 0;    // positions stored, or stored and gone since
  virtual int64_t capacity() const = 0;  // positions that fit
  virtual int64_t bytes() const = 0;     // memory held

  // Forgets the positions from n on. INVALID_ARGUMENT unless 0 <= n <= length(),
  // or when rows are gone that position n would look back at.
  virtual Status Truncate(int64_t n) = 0;
  virtual void Clear() = 0;

  // A cache with the same content and a life of its own. OUT_OF_MEMORY.
  virtual Result<std::unique_ptr<KvCache>> Fork() const = 0;

  // The stored rows as bytes, with a header that tells type, shape and length.
  // Little-endian, as every machine that runs this is.
  virtual int64_t SavedBytes() const = 0;
  virtual void Save(std::span<uint8_t> out) const = 0;  // SavedBytes() of them
  // Takes what a cache of the same type and shape saved; returns the bytes read
  // from the front of `in`. MALFORMED_FILE for anything else, OUT_OF_MEMORY.
  virtual Result<int64_t> Load(std::span<const uint8_t> in) = 0;
};

struct KvCacheShape {
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t capacity = 0;
};

// What the caches below share: OUT_OF_MEMORY when the rows do not fit,
// INVALID_ARGUMENT for a shape that is not positive or whose size overflows.
// K and V are [kv_heads, slots, head_dim] each, one run of rows a head.

// A slot for every position.
Result<std::unique_ptr<KvCache>> MakeFlatKvCache(KvType type, const KvCacheShape& shape);

struct SlidingWindow {
  int64_t window = 0;  // positions that a query sees: its own and those before it
  int64_t sink = 0;    // first positions of all, which every query sees as well
  int64_t chunk = 1;   // rows of one Update at most
};

// sink + window + chunk - 1 slots, used again and again. `shape.capacity` bounds
// the positions only.
Result<std::unique_ptr<KvCache>> MakeSlidingKvCache(KvType type, const KvCacheShape& shape,
                                                    const SlidingWindow& sliding);

// For cross-attention: filled once, appended to by later images, never written
// over. Takes memory with the first rows only.
Result<std::unique_ptr<KvCache>> MakeCrossKvCache(KvType type, const KvCacheShape& shape);

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_KV_CACHE_H_
