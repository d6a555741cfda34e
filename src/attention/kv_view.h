// What the KV caches and SDPA share, and all that they share: views of stored
// keys and values.
#ifndef KVASIR_ATTENTION_KV_VIEW_H_
#define KVASIR_ATTENTION_KV_VIEW_H_

#include <array>
#include <cstdint>

namespace kvasir {

enum class KvType { kF32, kF16, kI8 };

// Rows of K or V, [B, H_kv, S, D], in their stored type. The last dimension is
// contiguous. kI8 rows have a scale and a zero point each, [B, H_kv, S, 1]:
// x = (q - zero_point) * scale.
struct KvRows {
  KvType type = KvType::kF32;
  const void* data = nullptr;  // float, uint16_t (binary16) or int8_t
  std::array<int64_t, 4> size = {};
  std::array<int64_t, 4> stride = {};        // in elements; stride[3] is 1
  const float* scale = nullptr;              // kI8 only
  const int8_t* zero_point = nullptr;        // kI8 only
  std::array<int64_t, 3> quant_stride = {};  // of scale and zero_point over B, H_kv, S
};

// Consecutive positions that lie together: row s of k and v belongs to position
// first_position + s.
struct KvRun {
  KvRows k;
  KvRows v;
  int64_t first_position = 0;
};

// The stored rows in ascending order of position. A flat cache is one run, a
// ring at most two, a ring with an attention sink at most three.
struct KvRuns {
  std::array<KvRun, 3> run = {};
  int count = 0;
};

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_KV_VIEW_H_
