// Scaled dot-product attention over strided views of keys and values. Reads
// them where they are stored, in their stored type; nothing is dequantized,
// repeated or transposed in memory, and no score matrix exists. Source: online
// softmax, Milakov and Gimelshein, 2018; Dao et al., "FlashAttention", 2022.
#ifndef KVASIR_ATTENTION_SDPA_H_
#define KVASIR_ATTENTION_SDPA_H_

#include <cstdint>
#include <span>

#include "attention/kv_view.h"
#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace kvasir {

// Half-open range of key positions.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// An explicit mask, [H_q or 1, S, S_kv]; S_kv counts keys from position 0.
template <class T>
struct ExplicitMask {
  const T* data = nullptr;  // null: none
  int64_t head_stride = 0;  // 0: the same for all heads
  int64_t row_stride = 0;

  const T* Row(int64_t head, int64_t row) const {
    return data + head * head_stride + row * row_stride;
  }
};

// Which keys a query row sees: the intersection of all rules that are set.
struct MaskRule {
  bool causal = false;  // row r, at position start + r, sees keys 0..start + r
  int64_t start = 0;    // position of the first query row (causal and window)
  int64_t window = 0;   // > 0: row r sees the last `window` keys up to its own position
  int64_t sink = 0;     // with a window: keys [0, sink) are seen as well
  std::span<const KeyRange> ranges;  // one a query row, or empty
  ExplicitMask<uint8_t> visible;     // 0 hides a key
  ExplicitMask<float> bias;          // added to the scaled score; -inf hides a key
};

struct SdpaOptions {
  float scale = 0;     // usually 1 / sqrt(head_dim); > 0
  float soft_cap = 0;  // > 0: score = cap * tanh(score / cap), before the mask
  // What keys below mask.sink are multiplied with instead of q, of q's shape:
  // the same queries rotated to the place that they have when the window lies
  // right behind the sink. Null: q itself.
  const View4<const float>* sink_query = nullptr;
};

// Scratch memory of a thread count, reused from call to call; its size does not
// depend on the context.
class SdpaScratch {
 public:
  static Result<SdpaScratch> Create(int threads, int64_t query_heads, int64_t head_dim);

 private:
  friend class SdpaRunner;
  int threads_ = 0;
  int64_t query_heads_ = 0;
  int64_t head_dim_ = 0;
  AlignedBuffer memory_;
};

// out = softmax(q k^T * scale, masked) v for q, out [B, H_q, S, D] and runs of K
// and V [B, H_kv, *, D]. Query head j reads KV head j / (H_q / H_kv). A row that
// sees no key becomes zeros; returns how many (batch, head, row) triples did.
// Errors: INVALID_ARGUMENT for shapes that do not fit together.
Result<int64_t> Sdpa(const View4<const float>& q, const KvRuns& kv, const MaskRule& mask,
                     const SdpaOptions& options, const View4<float>& out, ThreadPool& pool,
                     SdpaScratch& scratch);

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_SDPA_H_
