// A compiled normalization rule, right or damaged: "A" becomes "a".
#ifndef KVASIR_TESTS_CPP_TOKENIZER_CHARSMAP_BUILDER_H_
#define KVASIR_TESTS_CPP_TOKENIZER_CHARSMAP_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kvasir {

struct CharsmapBuilder {
  static constexpr size_t kBlock = 256;          // where the root's children are
  static constexpr size_t kNode = kBlock ^ 'A';  // "A"
  static constexpr size_t kLeaf = kNode ^ 1;     // the rule for "A"

  CharsmapBuilder() : units(512), replacements("a\0", 2) {
    units[0] = uint32_t{kBlock} << 10;
    units[kNode] = 1u << 10 | 1u << 8 | 'A';  // offset 1, has a leaf
    units[kLeaf] = 0x80000000u;               // the replacement at 0
  }

  std::string Write() const {
    std::string bytes;
    const auto put = [&](uint32_t value) {
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    };
    put(static_cast<uint32_t>(units.size() * 4));
    for (uint32_t unit : units) put(unit);
    return bytes + replacements;
  }

  std::vector<uint32_t> units;
  std::string replacements;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_TOKENIZER_CHARSMAP_BUILDER_H_
