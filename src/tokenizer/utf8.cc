#include "tokenizer/utf8.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kvasir {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Those beyond ASCII.
constexpr std::string_view kWideSpaces[] = {
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

bool IsNarrowSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

struct Sequence {
  int length = 0;       // of a whole code point that begins with this byte; 0: none does
  uint8_t low = 0x80;   // bounds of the second byte, which exclude overlong forms,
  uint8_t high = 0xbf;  // surrogates and what lies beyond U+10FFFF
};

Sequence SequenceOf(uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xc2) return {};
  if (lead < 0xe0) return {2};
  if (lead < 0xf0) {
    return {3, static_cast<uint8_t>(lead == 0xe0 ? 0xa0 : 0x80),
            static_cast<uint8_t>(lead == 0xed ? 0x9f : 0xbf)};
  }
  if (lead < 0xf5) {
    return {4, static_cast<uint8_t>(lead == 0xf0 ? 0x90 : 0x80),
            static_cast<uint8_t>(lead == 0xf4 ? 0x8f : 0xbf)};
  }
  return {};
}

// How many bytes from `at` on belong to the code point that begins there; fewer
// than sequence.length where it breaks off.
size_t MatchingBytes(std::string_view bytes, size_t at, const Sequence& sequence) {
  size_t count = 1;
  while (count < static_cast<size_t>(sequence.length) && at + count < bytes.size()) {
    const uint8_t byte = static_cast<uint8_t>(bytes[at + count]);
    const uint8_t low = count == 1 ? sequence.low : 0x80;
    const uint8_t high = count == 1 ? sequence.high : 0xbf;
    if (byte < low || byte > high) break;
    ++count;
  }
  return count;
}

}  // namespace

size_t CharacterLength(std::string_view text) {
  const int length = SequenceOf(static_cast<uint8_t>(text[0])).length;
  return std::min(text.size(), static_cast<size_t>(std::max(1, length)));
}

size_t LastCharacterLength(std::string_view text) {
  size_t length = 0;
  bool found = text.empty();
  while (!found) {
    ++length;
    const auto byte = static_cast<uint8_t>(text[text.size() - length]);
    found = (byte & 0xC0) != 0x80 || length == text.size();
  }
  return length;
}

std::string TakeWholeUtf8(std::string& bytes) {
  std::string whole;
  size_t at = 0;
  while (at < bytes.size()) {
    const Sequence sequence = SequenceOf(static_cast<uint8_t>(bytes[at]));
    const size_t count = MatchingBytes(bytes, at, sequence);
    if (count == static_cast<size_t>(sequence.length)) {
      whole.append(bytes, at, count);
    } else if (sequence.length > 0 && at + count == bytes.size()) {
      break;  // it may still be completed
    } else {
      whole += kReplacement;
    }
    at += count;
  }
  bytes.erase(0, at);
  return whole;
}

std::string TakeAllUtf8(std::string& bytes) {
  std::string all = TakeWholeUtf8(bytes);
  if (!bytes.empty()) all += kReplacement;
  bytes.clear();
  return all;
}

size_t LeadingWhiteSpace(std::string_view text) {
  size_t count = 0;
  for (bool found = true; found && count < text.size();) {
    found = IsNarrowSpace(text[count]);
    if (found) ++count;
    for (std::string_view space : kWideSpaces) {
      if (found || !text.substr(count).starts_with(space)) continue;
      count += space.size();
      found = true;
    }
  }
  return count;
}

size_t TrailingWhiteSpace(std::string_view text) {
  const size_t size = text.size();
  for (bool found = true; found && !text.empty();) {
    found = IsNarrowSpace(text.back());
    if (found) text.remove_suffix(1);
    for (std::string_view space : kWideSpaces) {
      if (found || !text.ends_with(space)) continue;
      text.remove_suffix(space.size());
      found = true;
    }
  }
  return size - text.size();
}

}  // namespace kvasir
