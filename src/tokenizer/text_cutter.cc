#include "tokenizer/text_cutter.h"

#include <algorithm>

namespace kvasir {
namespace {

constexpr uint32_t kPackedSpaceMark = 0xe29681;  // U+2581

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// The bytes of the code point at `at` as one number; moves `at` behind it.
uint32_t TakeCodePoint(std::string_view text, size_t& at) {
  uint32_t packed = static_cast<uint8_t>(text[at++]);
  while (at < text.size() && IsContinuation(text[at])) {
    packed = packed << 8 | static_cast<uint8_t>(text[at++]);
  }
  return packed == ' ' ? kPackedSpaceMark : packed;
}

uint64_t Pair(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace

void TextCutter::AddPiece(std::string_view spelling) {
  if (spelling.empty()) return;
  size_t at = 0;
  uint32_t previous = TakeCodePoint(spelling, at);
  while (at < spelling.size()) {
    const uint32_t next = TakeCodePoint(spelling, at);
    neighbours_.push_back(Pair(previous, next));
    previous = next;
  }
  // Most are repetitions: forget those whenever as many new ones have come.
  if (neighbours_.size() >= 2 * distinct_ + kPartBytes) Prepare();
}

void TextCutter::Prepare() {
  std::sort(neighbours_.begin(), neighbours_.end());
  neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
  neighbours_.shrink_to_fit();
  distinct_ = neighbours_.size();
}

size_t TextCutter::FirstPart(std::string_view text) const {
  if (text.size() <= kPartBytes) return text.size();
  size_t at = kPartBytes;
  while (at > 0 && IsContinuation(text[at])) --at;
  uint32_t previous = TakeCodePoint(text, at);
  while (at < text.size()) {
    const size_t cut = at;
    const uint32_t next = TakeCodePoint(text, at);
    if (!CanMeet(previous, next)) return cut;
    previous = next;
  }
  return text.size();
}

bool TextCutter::CanMeet(uint32_t first, uint32_t second) const {
  return std::binary_search(neighbours_.begin(), neighbours_.end(), Pair(first, second));
}

size_t TextCutter::FirstWord(std::string_view text) const {
  if (text.empty()) return 0;
  size_t at = 0;
  uint32_t previous = TakeCodePoint(text, at);
  while (at < text.size() && at < kPartBytes) {
    const size_t cut = at;
    const uint32_t next = TakeCodePoint(text, at);
    if (next == kPackedSpaceMark && !CanMeet(previous, next)) return cut;
    previous = next;
  }
  return FirstPart(text);
}

}  // namespace kvasir
