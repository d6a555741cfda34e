// The code books of the IQ types: what runs of elements can be. Internal to the
// kernels.
#ifndef KVASIR_KERNELS_CODEBOOKS_H_
#define KVASIR_KERNELS_CODEBOOKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvasir {

// The entries are numbers, of which the first element is the lowest digit: 8 digits of
// base 3 in IQ1 and IQ2, 4 of base 8 in IQ3. These are the steps from each to the next.
extern const uint16_t kIQ1SSteps[2048];
extern const uint16_t kIQ2XXSSteps[256];
extern const uint16_t kIQ2XSSteps[512];
extern const uint16_t kIQ2SSteps[1024];
extern const uint16_t kIQ3XXSSteps[256];
extern const uint16_t kIQ3SSteps[512];

// A book to look things up in: digits of 16 / kLength bits, the first element lowest.
template <size_t kEntries, int kLength>
class Codebook {
 public:
  explicit Codebook(const uint16_t (&steps)[kEntries]) {
    constexpr uint32_t kBase = kLength == 8 ? 3 : 8;
    uint32_t number = 0;
    for (size_t i = 0; i < kEntries; ++i) {
      number += steps[i];
      uint32_t entry = 0, rest = number;
      for (int digit = 0; digit < kLength; ++digit, rest /= kBase) {
        entry |= rest % kBase << digit * (16 / kLength);
      }
      entries_[i] = static_cast<uint16_t>(entry);
    }
  }
  uint32_t operator[](uint32_t index) const { return entries_[index]; }

 private:
  std::array<uint16_t, kEntries> entries_;
};

}  // namespace kvasir

#endif  // KVASIR_KERNELS_CODEBOOKS_H_
