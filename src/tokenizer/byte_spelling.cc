#include "tokenizer/byte_spelling.h"

#include <array>
#include <cstdint>

namespace kvasir {
namespace {

constexpr uint32_t kSpelledBeyond = 0x100;  // what spells the first byte that is not itself
constexpr uint32_t kCharacters = 0x144;
constexpr int16_t kNoByte = -1;

constexpr bool SpellsItself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

constexpr std::array<int16_t, kCharacters> MakeBytes() {
  std::array<int16_t, kCharacters> bytes = {};
  uint32_t beyond = kSpelledBeyond;
  for (uint32_t byte = 0; byte < 0x100; ++byte) {
    bytes[byte] = kNoByte;
    if (!SpellsItself(byte)) bytes[beyond++] = static_cast<int16_t>(byte);
  }
  for (uint32_t byte = 0; byte < 0x100; ++byte) {
    if (SpellsItself(byte)) bytes[byte] = static_cast<int16_t>(byte);
  }
  return bytes;
}

constexpr std::array<int16_t, kCharacters> kBytes = MakeBytes();

}  // namespace

std::optional<std::string> BytesOfSpelling(std::string_view spelling) {
  std::string bytes;
  for (size_t i = 0; i < spelling.size(); ++i) {
    // All characters that spell a byte have one or two bytes of UTF-8.
    uint32_t character = static_cast<uint8_t>(spelling[i]);
    if (character >= 0x80) {
      if ((character & 0xe0) != 0xc0 || i + 1 == spelling.size()) return std::nullopt;
      const uint32_t second = static_cast<uint8_t>(spelling[++i]);
      if ((second & 0xc0) != 0x80) return std::nullopt;
      character = (character & 0x1f) << 6 | (second & 0x3f);
      if (character < 0x80) return std::nullopt;
    }
    if (character >= kCharacters || kBytes[character] == kNoByte) return std::nullopt;
    bytes += static_cast<char>(kBytes[character]);
  }
  return bytes;
}

}  // namespace kvasir
