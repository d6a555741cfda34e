// Random rows, and what a cache holds of them.
#ifndef KVASIR_TESTS_CPP_ATTENTION_CACHE_ROWS_H_
#define KVASIR_TESTS_CPP_ATTENTION_CACHE_ROWS_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "attention/kv_view.h"
#include "kernels/convert.h"
#include "kernels/quantize_row.h"

namespace kvasir {

inline constexpr KvType kAllKvTypes[] = {KvType::kF32, KvType::kF16, KvType::kI8};

inline const char* KvTypeText(KvType type) {
  return type == KvType::kF32 ? "f32" : type == KvType::kF16 ? "f16" : "i8";
}

inline std::vector<float> RandomRows(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

// A row as a cache of this type gives it back.
inline std::vector<float> RoundedRow(KvType type, const float* row, int64_t dim) {
  std::vector<float> out(row, row + dim);
  if (type == KvType::kF16) {
    std::vector<uint16_t> half(out.size());
    F32ToF16(row, dim, half.data());
    F16ToF32(half.data(), dim, out.data());
  } else if (type == KvType::kI8) {
    std::vector<int8_t> bytes(out.size());
    const RowQuantization quantization = QuantizeRow(row, dim, bytes.data());
    DequantizeRow(bytes.data(), dim, quantization, out.data());
  }
  return out;
}

inline void RoundRows(KvType type, std::vector<float>& rows, int64_t dim) {
  for (size_t i = 0; i < rows.size(); i += static_cast<size_t>(dim)) {
    const std::vector<float> row = RoundedRow(type, &rows[i], dim);
    std::memcpy(&rows[i], row.data(), row.size() * sizeof(float));
  }
}

// Row s of a view as floats.
inline std::vector<float> StoredRow(const KvRows& rows, int64_t head, int64_t s) {
  const int64_t at = head * rows.stride[1] + s * rows.stride[2], dim = rows.size[3];
  std::vector<float> out(static_cast<size_t>(dim));
  if (rows.type == KvType::kF32) {
    std::memcpy(out.data(), static_cast<const float*>(rows.data) + at, out.size() * sizeof(float));
  } else if (rows.type == KvType::kF16) {
    F16ToF32(static_cast<const uint16_t*>(rows.data) + at, dim, out.data());
  } else {
    const int64_t quant = head * rows.quant_stride[1] + s * rows.quant_stride[2];
    DequantizeRow(static_cast<const int8_t*>(rows.data) + at, dim,
                  {rows.scale[quant], rows.zero_point[quant]}, out.data());
  }
  return out;
}

// The row of a position, or nothing when no run holds it.
inline std::vector<float> RowAt(const KvRuns& runs, bool keys, int64_t head, int64_t position) {
  for (int i = 0; i < runs.count; ++i) {
    const KvRun& run = runs.run[static_cast<size_t>(i)];
    const int64_t s = position - run.first_position;
    if (s >= 0 && s < run.k.size[2]) return StoredRow(keys ? run.k : run.v, head, s);
  }
  return {};
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_ATTENTION_CACHE_ROWS_H_
