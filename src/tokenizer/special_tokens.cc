#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tokenizer/utf8.h"

namespace kvasir {

void SpecialTokens::Add(std::string spelling, TokenId id, bool always, Strip strip) {
  if (!spelling.empty()) entries_.push_back({std::move(spelling), id, always, strip});
}

void SpecialTokens::Prepare() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    const int order = a.spelling.compare(b.spelling);
    return order < 0 || (order == 0 && a.always && !b.always);
  });
  const auto repeated =
      std::unique(entries_.begin(), entries_.end(),
                  [](const Entry& a, const Entry& b) { return a.spelling == b.spelling; });
  entries_.erase(repeated, entries_.end());
  for (size_t byte = 0; byte < by_first_byte_.size(); ++byte) {
    by_first_byte_[byte] = Narrow({0, entries_.size()}, 0, static_cast<char>(byte));
  }
}

SpecialTokens::Range SpecialTokens::Narrow(Range range, size_t depth, char byte) const {
  // A spelling that ends here sorts before those that go on.
  const auto key = [depth](const Entry& entry) {
    return depth < entry.spelling.size() ? static_cast<uint8_t>(entry.spelling[depth]) : -1;
  };
  const auto first = entries_.begin();
  const int wanted = static_cast<uint8_t>(byte);
  const auto begin = std::partition_point(first + static_cast<std::ptrdiff_t>(range.begin),
                                          first + static_cast<std::ptrdiff_t>(range.end),
                                          [&](const Entry& entry) { return key(entry) < wanted; });
  const auto end = std::partition_point(begin, first + static_cast<std::ptrdiff_t>(range.end),
                                        [&](const Entry& entry) { return key(entry) == wanted; });
  return {static_cast<size_t>(begin - first), static_cast<size_t>(end - first)};
}

const SpecialTokens::Entry* SpecialTokens::EntryAt(std::string_view text, size_t at,
                                                   bool parse_special) const {
  const Entry* longest = nullptr;
  Range range = by_first_byte_[static_cast<uint8_t>(text[at])];
  for (size_t depth = 1; range.begin < range.end; ++depth) {
    const Entry& shortest = entries_[range.begin];
    if (shortest.spelling.size() == depth && (shortest.always || parse_special)) {
      longest = &shortest;
    }
    if (at + depth == text.size()) break;
    range = Narrow(range, depth, text[at + depth]);
  }
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::Find(std::string_view text, size_t from,
                                                        bool parse_special) const {
  for (size_t at = from; at < text.size(); ++at) {
    const Range range = by_first_byte_[static_cast<uint8_t>(text[at])];
    if (range.begin == range.end) continue;
    const Entry* entry = EntryAt(text, at, parse_special);
    if (entry == nullptr) continue;
    Match match = {at, at + entry->spelling.size(), entry->id};
    if (entry->strip.left) match.begin -= TrailingWhiteSpace(text.substr(from, at - from));
    if (entry->strip.right) match.end += LeadingWhiteSpace(text.substr(match.end));
    return match;
  }
  return std::nullopt;
}

}  // namespace kvasir
