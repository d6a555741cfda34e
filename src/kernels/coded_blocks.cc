#include "kernels/coded_blocks.h"

#include <bit>
#include <cstring>

#include "kernels/codebooks.h"
#include "simd/simd.h"

namespace kvasir {

const int8_t kIQ4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};
const int8_t kMXFP4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

namespace {

constexpr uint8_t kSign = 8;  // the highest bit of a code

// The lower three bits of a code are what the book holds.
constexpr int8_t kIQ2Values[16] = {8, 25, 43, 0, 0, 0, 0, 0, -8, -25, -43};
constexpr int8_t kIQ3XxsValues[16] = {4,  12,  20,  28,  36,  44,  52,  62,
                                      -4, -12, -20, -28, -36, -44, -52, -62};
constexpr int8_t kIQ3SValues[16] = {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15};
// Eighths: -1, 0 and 1, an eighth more or less.
constexpr int8_t kIQ1Values[16] = {-7, 1, 9, 0, 0, 0, 0, 0, -9, -1, 7};

template <class T>
T Read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
float ReadHalf(const uint8_t* at) { return F16ToF32(Read<uint16_t>(at)); }
uint32_t Nibble(const uint8_t* bytes, int i) { return bytes[i / 2] >> i % 2 * 4 & 15u; }
uint8_t OddScale(uint32_t s) { return static_cast<uint8_t>(2 * s + 1); }

// Seven signs, and an eighth that makes their number even.
uint32_t EvenSigns(uint32_t seven) {
  return seven | (static_cast<uint32_t>(std::popcount(seven)) & 1) << 7;
}

// Codes from an entry of eight elements of two bits, or of four of four bits.
void PutEight(uint32_t entry, uint32_t signs, uint8_t* codes) {
  for (int j = 0; j < 8; ++j) {
    codes[j] = static_cast<uint8_t>((entry >> 2 * j & 3) | (signs >> j & 1) * kSign);
  }
}
void PutFour(uint32_t entry, uint32_t signs, uint8_t* codes) {
  for (int j = 0; j < 4; ++j) {
    codes[j] = static_cast<uint8_t>((entry >> 4 * j & 15) | (signs >> j & 1) * kSign);
  }
}

const Codebook<2048, 8>& IQ1Book() {
  static const Codebook<2048, 8> book(kIQ1SSteps);
  return book;
}

}  // namespace

// d; for 32 elements: 4 indices of 8 bits, 4 times 7 signs, a scale of 4 bits.
void DecodeIQ2_XXS(const uint8_t* raw, CodedBlock& out) {
  static const Codebook<256, 8> book(kIQ2XXSSteps);
  out.d = ReadHalf(raw) / 8;
  out.table = kIQ2Values;
  for (int unit = 0; unit < 8; ++unit) {
    const uint8_t* indices = raw + 2 + 8 * unit;
    const auto rest = Read<uint32_t>(indices + 4);
    out.scales[2 * unit] = out.scales[2 * unit + 1] = OddScale(rest >> 28);
    for (int i = 0; i < 4; ++i) {
      PutEight(book[indices[i]], EvenSigns(rest >> 7 * i & 127), out.codes + 32 * unit + 8 * i);
    }
  }
}

// d; for 8 elements: an index of 9 bits, 7 signs; scales of 16 elements, of 4 bits.
void DecodeIQ2_XS(const uint8_t* raw, CodedBlock& out) {
  static const Codebook<512, 8> book(kIQ2XSSteps);
  out.d = ReadHalf(raw) / 8;
  out.table = kIQ2Values;
  for (int i = 0; i < 16; ++i) out.scales[i] = OddScale(Nibble(raw + 66, i));
  for (int i = 0; i < 32; ++i) {
    const auto both = Read<uint16_t>(raw + 2 + 2 * i);
    PutEight(book[both & 511u], EvenSigns(both >> 9), out.codes + 8 * i);
  }
}

// d; for 8 elements: 8 bits of an index, in another place 8 signs, in a third two upper
// bits; scales of 16 elements, of 4 bits.
void DecodeIQ2_S(const uint8_t* raw, CodedBlock& out) {
  static const Codebook<1024, 8> book(kIQ2SSteps);
  out.d = ReadHalf(raw) / 8;
  out.table = kIQ2Values;
  for (int i = 0; i < 16; ++i) out.scales[i] = OddScale(Nibble(raw + 74, i));
  for (int i = 0; i < 32; ++i) {
    const uint32_t upper = raw[66 + i / 4] >> i % 4 * 2 & 3u;
    PutEight(book[raw[2 + i] | upper << 8], raw[34 + i], out.codes + 8 * i);
  }
}

// d; for 4 elements: an index of 8 bits; for 32: 4 times 7 signs, a scale of 4 bits.
void DecodeIQ3_XXS(const uint8_t* raw, CodedBlock& out) {
  static const Codebook<256, 4> book(kIQ3XXSSteps);
  out.d = ReadHalf(raw) / 4;
  out.table = kIQ3XxsValues;
  for (int unit = 0; unit < 8; ++unit) {
    const auto rest = Read<uint32_t>(raw + 66 + 4 * unit);
    out.scales[2 * unit] = out.scales[2 * unit + 1] = OddScale(rest >> 28);
    for (int i = 0; i < 8; ++i) {
      const uint32_t signs = EvenSigns(rest >> i / 2 * 7 & 127) >> i % 2 * 4;
      PutFour(book[raw[2 + 8 * unit + i]], signs, out.codes + 32 * unit + 4 * i);
    }
  }
}

// d; for 4 elements: 8 bits of an index, in another place a ninth; for 8 elements: 8
// signs; for 32: a scale of 4 bits.
void DecodeIQ3_S(const uint8_t* raw, CodedBlock& out) {
  static const Codebook<512, 4> book(kIQ3SSteps);
  out.d = ReadHalf(raw);
  out.table = kIQ3SValues;
  for (int i = 0; i < 16; ++i) out.scales[i] = OddScale(Nibble(raw + 106, i / 2));
  for (int i = 0; i < 64; ++i) {
    const uint32_t index = raw[2 + i] | (raw[66 + i / 8] >> i % 8 & 1u) << 8;
    const uint32_t signs = static_cast<uint32_t>(raw[74 + i / 2]) >> i % 2 * 4;
    PutFour(book[index], signs, out.codes + 4 * i);
  }
}

// d; for 8 elements: 8 bits of an index; for 32: 4 times three upper bits, a scale of 3
// bits, whether an eighth is taken off.
void DecodeIQ1_S(const uint8_t* raw, CodedBlock& out) {
  out.d = ReadHalf(raw) / 8;
  out.table = kIQ1Values;
  for (int unit = 0; unit < 8; ++unit) {
    const uint32_t rest = Read<uint16_t>(raw + 34 + 2 * unit);
    out.scales[2 * unit] = out.scales[2 * unit + 1] = OddScale(rest >> 12 & 7);
    const uint32_t less = (rest >> 15) * 255;
    for (int i = 0; i < 4; ++i) {
      const uint32_t index = raw[2 + 4 * unit + i] | (rest >> 3 * i & 7) << 8;
      PutEight(IQ1Book()[index], less, out.codes + 32 * unit + 8 * i);
    }
  }
}

// For 8 elements: 8 bits of an index, in another place three upper bits and whether an
// eighth is taken off; 4 times 16 bits: 4 scales of 3 bits, and 4 bits of d.
void DecodeIQ1_M(const uint8_t* raw, CodedBlock& out) {
  out.table = kIQ1Values;
  uint32_t d = 0;
  for (int word = 0; word < 4; ++word) {
    const uint32_t scales = Read<uint16_t>(raw + 48 + 2 * word);
    d |= scales >> 12 << 4 * word;
    for (int i = 0; i < 4; ++i) out.scales[4 * word + i] = OddScale(scales >> 3 * i & 7);
  }
  out.d = F16ToF32(static_cast<uint16_t>(d)) / 8;
  for (int i = 0; i < 32; ++i) {
    const uint32_t upper = Nibble(raw + 32, i);
    const uint32_t index = raw[i] | (upper & 7) << 8;
    PutEight(IQ1Book()[index], (upper >> 3) * 255, out.codes + 8 * i);
  }
}

namespace {

// Scales and mins of 1; the same d for both.
void PutTernaryScales(const uint8_t* d, uint8_t* q2_k) {
  std::memset(q2_k, 0x11, 16);
  std::memcpy(q2_k + 80, d, 2);
  std::memcpy(q2_k + 82, d, 2);
}

}  // namespace

// Two bits an element, as in Q2_K; d.
void TQ2_0ToQ2_K(const uint8_t* raw, uint8_t* q2_k) {
  PutTernaryScales(raw + 64, q2_k);
  std::memcpy(q2_k + 16, raw, 64);
}

// Bytes whose digits in base 3 are elements, the first the highest, as a fraction of
// 256: 32 of five elements, 16 of five, 4 of four; d.
void TQ1_0ToQ2_K(const uint8_t* raw, uint8_t* q2_k) {
  PutTernaryScales(raw + 52, q2_k);
  uint8_t* const weights = q2_k + 16;
  std::memset(weights, 0, 64);
  int column = 0;
  const auto put = [&](const uint8_t* bytes, int count, int digits) {
    uint8_t power = 1;
    for (int digit = 0; digit < digits; ++digit, power = static_cast<uint8_t>(power * 3)) {
      for (int l = 0; l < count; ++l, ++column) {
        const auto fraction = static_cast<uint8_t>(bytes[l] * power);
        const int q = fraction * 3 >> 8, unit = column / 32;
        weights[unit / 4 * 32 + column % 32] |= static_cast<uint8_t>(q << unit % 4 * 2);
      }
    }
  };
  put(raw, 32, 5);
  put(raw + 32, 16, 5);
  put(raw + 48, 4, 4);
}

}  // namespace kvasir
