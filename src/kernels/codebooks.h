// The code books of the IQ types: what runs of elements can be. Internal to the
// kernels.
#ifndef KVASIR_KERNELS_CODEBOOKS_H_
#define KVASIR_KERNELS_CODEBOOKS_H_

#include <cstdint>

namespace kvasir {

// Four entries of 16 bits a number, the first in the lowest bits. In IQ1 and IQ2 an
// entry is 8 elements of 2 bits, in IQ3 it is 4 of 4 bits; the first is the lowest.
extern const uint64_t kIQ1_SBook[512];
extern const uint64_t kIQ2_XXSBook[64];
extern const uint64_t kIQ2_XSBook[128];
extern const uint64_t kIQ2_SBook[256];
extern const uint64_t kIQ3_XXSBook[64];
extern const uint64_t kIQ3_SBook[128];

inline uint32_t BookEntry(const uint64_t* book, uint32_t index) {
  return static_cast<uint16_t>(book[index / 4] >> index % 4 * 16);
}

}  // namespace kvasir

#endif  // KVASIR_KERNELS_CODEBOOKS_H_
