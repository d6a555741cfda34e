// Element types of weight tensors, with GGUF's numbers.
// Source: the GGUF specification and ggml's block layouts.
#ifndef KVASIR_BASE_TENSOR_TYPE_H_
#define KVASIR_BASE_TENSOR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvasir {

enum class TensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  // Blocks of 32: an f16 scale d, then 16 bytes; byte j holds elements j (low
  // nibble) and j + 16 (high nibble). w = d * (q - 8).
  kQ4_0 = 2,
  // Blocks of 32: an f16 scale d, 4 bytes with the fifth bit of each element, then
  // 16 bytes of nibbles as in Q4_0. w = d * (q - 16).
  kQ5_0 = 6,
  // Blocks of 32: an f16 scale d, then 32 signed bytes. w = d * q.
  kQ8_0 = 8,
  // Blocks of 256: f16 d and dmin, 6-bit scale and min of 32 elements each in 12
  // bytes, 128 bytes of nibbles. w = d * scale * q - dmin * min.
  kQ4_K = 12,
  // Blocks of 256: as Q4_K, with 32 bytes of fifth bits before the nibbles.
  kQ5_K = 13,
  // Blocks of 256: 128 bytes of low nibbles, 64 of upper two bits, 16 signed scales
  // of 16 elements each, f16 d. w = d * scale * (q - 32).
  kQ6_K = 14,
  kBF16 = 30,
};

struct TensorTypeTraits {
  std::string_view name;   // "Q8_0"
  int64_t block_elements;  // elements a block holds; a row is whole blocks
  int64_t block_bytes;
};

// Empty for a type that this build does not know.
std::optional<TensorTypeTraits> FindTensorTypeTraits(TensorType type);

// Only for known types and `cols` a multiple of block_elements.
int64_t RowBytes(TensorType type, int64_t cols);

}  // namespace kvasir

#endif  // KVASIR_BASE_TENSOR_TYPE_H_
