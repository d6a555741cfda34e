// The keys and values of one layer's past tokens. A cache stores rows and knows
// nothing of attention.
#ifndef KVASIR_ATTENTION_KV_CACHE_H_
#define KVASIR_ATTENTION_KV_CACHE_H_

#include <cstdint>
#include <memory>

#include "attention/kv_view.h"
#include "base/status.h"
#include "base/view.h"

namespace kvasir {

class KvCache {
 public:
  virtual ~KvCache() = default;

  // Stores k and v, [1, kv_heads, S, head_dim], as positions [start, start + S).
  // start may lie at or before length(), never beyond it; length() becomes
  // start + S. INVALID_ARGUMENT for a wrong shape or start, CONTEXT_OVERFLOW
  // beyond capacity(); on an error nothing has changed.
  virtual Status Update(int64_t start, const View4<const float>& k,
                        const View4<const float>& v) = 0;

  // The stored rows. Valid until the next change of the cache.
  virtual KvRuns Runs() const = 0;

  virtual KvType type() const = 0;
  virtual int64_t length() const = 0;    // positions stored
  virtual int64_t capacity() const = 0;  // positions that fit
  virtual int64_t bytes() const = 0;     // memory held

  // Forgets the positions from n on; INVALID_ARGUMENT unless 0 <= n <= length().
  virtual Status Truncate(int64_t n) = 0;
  virtual void Clear() = 0;
};

struct KvCacheShape {
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t capacity = 0;
};

// One contiguous run of rows a head, [kv_heads, capacity, head_dim], for K and
// for V. OUT_OF_MEMORY when it does not fit, INVALID_ARGUMENT for a shape
// that is not positive or whose size overflows.
Result<std::unique_ptr<KvCache>> MakeFlatKvCache(KvType type, const KvCacheShape& shape);

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_KV_CACHE_H_
