// Blocks of the small types, taken apart: those whose elements are found in code books
// become codes of four bits, ternary ones become Q2_K. Nothing is rounded. Internal to
// the kernels. Source: gguf-py's quants.py, which defines what the blocks mean.
#ifndef KVASIR_KERNELS_CODED_BLOCKS_H_
#define KVASIR_KERNELS_CODED_BLOCKS_H_

#include <cstdint>

namespace kvasir {

// What the nibbles of IQ4_NL and IQ4_XS, and of MXFP4, stand for.
extern const int8_t kIQ4Values[16];
extern const int8_t kMXFP4Values[16];

// Element j is d * scales[j / 16] * table[codes[j]].
struct CodedBlock {
  float d;
  const int8_t* table;  // 16 values; a code's highest bit is a sign, or IQ1's shift
  uint8_t scales[16];
  uint8_t codes[256];
};

void DecodeIQ1_S(const uint8_t* raw, CodedBlock& out);
void DecodeIQ1_M(const uint8_t* raw, CodedBlock& out);
void DecodeIQ2_XXS(const uint8_t* raw, CodedBlock& out);
void DecodeIQ2_XS(const uint8_t* raw, CodedBlock& out);
void DecodeIQ2_S(const uint8_t* raw, CodedBlock& out);
void DecodeIQ3_XXS(const uint8_t* raw, CodedBlock& out);
void DecodeIQ3_S(const uint8_t* raw, CodedBlock& out);

// To a block of Q2_K, 84 bytes.
void TQ1_0ToQ2_K(const uint8_t* raw, uint8_t* q2_k);
void TQ2_0ToQ2_K(const uint8_t* raw, uint8_t* q2_k);

}  // namespace kvasir

#endif  // KVASIR_KERNELS_CODED_BLOCKS_H_
