#include "tokenizer/charsmap.h"

#include <cstddef>
#include <cstdint>

namespace kvasir {
namespace {

constexpr size_t kUnitBytes = 4;
constexpr size_t kMaxReplacementBytes = 256;

uint32_t UnitAt(std::string_view units, size_t i) {
  uint32_t unit = 0;
  for (size_t byte = 0; byte < kUnitBytes; ++byte) {
    unit |= static_cast<uint32_t>(static_cast<uint8_t>(units[i * kUnitBytes + byte])) << (8 * byte);
  }
  return unit;
}

// A leaf holds a value and leads nowhere.
bool IsLeaf(uint32_t unit) { return (unit >> 31) != 0; }
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Value(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t Offset(uint32_t unit) { return (unit >> 10) << ((unit >> 9 & 1) * 8); }

bool HasShortReplacements(std::string_view replacements) {
  if (replacements.empty() || replacements.back() != '\0') return false;
  size_t begin = 0;
  while (begin < replacements.size()) {
    const size_t end = replacements.find('\0', begin);
    if (end - begin > kMaxReplacementBytes) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

bool IsSafeCharsmap(std::string_view charsmap) {
  if (charsmap.size() < kUnitBytes) return false;
  const size_t trie_bytes = UnitAt(charsmap, 0);
  charsmap.remove_prefix(kUnitBytes);
  if (trie_bytes >= charsmap.size() || trie_bytes % kUnitBytes != 0) return false;
  const std::string_view units = charsmap.substr(0, trie_bytes);
  const std::string_view replacements = charsmap.substr(trie_bytes);
  if (!HasShortReplacements(replacements)) return false;

  const size_t count = trie_bytes / kUnitBytes;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t unit = UnitAt(units, i);
    if (i > 0 && IsLeaf(unit)) continue;  // every search begins at the root, whatever it is
    const size_t child = i ^ Offset(unit);
    if ((child | 0xff) >= count) return false;  // the next step goes to child ^ byte
    if (HasLeaf(unit) && Value(UnitAt(units, child)) >= replacements.size()) return false;
  }
  return count > 0;
}

}  // namespace kvasir
