// Element types of weight tensors, with GGUF's numbers.
// Source: the GGUF specification and ggml's block layouts.
#ifndef KVASIR_BASE_TENSOR_TYPE_H_
#define KVASIR_BASE_TENSOR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvasir {

enum class TensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  // Blocks of 32: an f16 scale d, then 16 bytes; byte j holds elements j (low
  // nibble) and j + 16 (high nibble). w = d * (q - 8).
  kQ4_0 = 2,
  // Blocks of 32: f16 d and m, 16 bytes of nibbles as in Q4_0. w = d * q + m.
  kQ4_1 = 3,
  // Blocks of 32: an f16 scale d, 4 bytes with the fifth bit of each element, then
  // 16 bytes of nibbles as in Q4_0. w = d * (q - 16).
  kQ5_0 = 6,
  // Blocks of 32: as Q4_1, with 4 bytes of fifth bits before the nibbles.
  kQ5_1 = 7,
  // Blocks of 32: an f16 scale d, then 32 signed bytes. w = d * q.
  kQ8_0 = 8,
  // Blocks of 256: 16 bytes with a 4-bit scale and min of 16 elements each, 64 bytes
  // of 2 bits, f16 d and dmin. w = d * scale * q - dmin * min.
  kQ2_K = 10,
  // Blocks of 256: 32 bytes of third bits, 64 of lower two bits, 16 scales of 6 bits
  // in 12 bytes, f16 d. w = d * (scale - 32) * (q - 4).
  kQ3_K = 11,
  // Blocks of 256: f16 d and dmin, 6-bit scale and min of 32 elements each in 12
  // bytes, 128 bytes of nibbles. w = d * scale * q - dmin * min.
  kQ4_K = 12,
  // Blocks of 256: as Q4_K, with 32 bytes of fifth bits before the nibbles.
  kQ5_K = 13,
  // Blocks of 256: 128 bytes of low nibbles, 64 of upper two bits, 16 signed scales
  // of 16 elements each, f16 d. w = d * scale * (q - 32).
  kQ6_K = 14,
  // Blocks of 256 whose elements are found in code books: codebooks.h says which.
  // 8 elements of IQ1 and IQ2 and 4 of IQ3 share an index; scales belong to 16 or 32.
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  // Blocks of 32: an f16 scale d, nibbles as in Q4_0. w = d * value[q] of 16 values.
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  // Blocks of 256: f16 d, 8 scales of 6 bits in 6 bytes, nibbles as in IQ4_NL, 16
  // bytes for 32 elements. w = d * (scale - 32) * value[q].
  kIQ4_XS = 23,
  kIQ1_M = 29,
  kBF16 = 30,
  // Blocks of 256: -1, 0 or 1 times an f16 scale d, five elements a byte.
  kTQ1_0 = 34,
  // The same in two bits an element.
  kTQ2_0 = 35,
  // Blocks of 32: an exponent e, nibbles as in Q4_0. w = 2^(e - 128) * value[q] of 16
  // values. Source: the Open Compute Project's Microscaling formats.
  kMXFP4 = 39,
};

struct TensorTypeTraits {
  std::string_view name;   // "Q8_0"
  int64_t block_elements;  // elements a block holds; a row is whole blocks
  int64_t block_bytes;
};

// Empty for a type that this build does not know.
std::optional<TensorTypeTraits> FindTensorTypeTraits(TensorType type);

// The names of all known types: "F32, F16, ...".
std::string TensorTypeNames();

// Only for known types and `cols` a multiple of block_elements.
int64_t RowBytes(TensorType type, int64_t cols);

}  // namespace kvasir

#endif  // KVASIR_BASE_TENSOR_TYPE_H_
