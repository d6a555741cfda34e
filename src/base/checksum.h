// A 64-bit checksum against accidents: damaged files, files of another model.
// No protection against somebody who wants two inputs to agree.
#ifndef KVASIR_BASE_CHECKSUM_H_
#define KVASIR_BASE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kvasir {

// Every step is a bijection of the state for a fixed word, and of the word for a
// fixed state: two inputs of the same length that differ in one word never agree.
class Checksum {
 public:
  // A piece whose length is not a multiple of 8 is padded with zeros.
  void Add(std::span<const uint8_t> bytes) {
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      Mix(word);
    }
    if (i < bytes.size()) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, bytes.size() - i);
      Mix(word);
    }
    length_ += bytes.size();
  }

  void Add(uint64_t word) {
    Mix(word);
    length_ += sizeof(word);
  }

  uint64_t value() const {
    uint64_t x = state_ ^ length_;
    x ^= x >> 32;
    x *= kMultiplier;
    return x ^ (x >> 29);
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // odd: 2^64 / golden ratio

  void Mix(uint64_t word) {
    uint64_t x = (state_ ^ word) * kMultiplier;
    x = (x ^ x >> 32) * kMultiplier;
    state_ = x << 31 | x >> 33;
  }

  uint64_t state_ = kMultiplier;
  uint64_t length_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_BASE_CHECKSUM_H_
