#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <utility>

#include "tokenizer/utf8.h"

namespace kvasir {
namespace {

// What Unicode (UTS #18) takes for a part of a word: letters, marks, digits, what joins.
constexpr std::string_view kWordCharacter =
    "[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}\\x{24b6}-\\x{24e9}]";

}  // namespace

void SpecialTokens::Add(std::string spelling, TokenId id, bool always, Surroundings surroundings) {
  if (!spelling.empty()) entries_.push_back({std::move(spelling), id, always, surroundings});
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
  const bool any_word = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.surroundings.single_word;
  });
  if (any_word) {
    Result<Pattern> pattern = Pattern::Compile(kWordCharacter);
    assert(pattern.ok());
    word_character_.emplace(*std::move(pattern));
  }
  for (size_t byte = 0; byte < by_first_byte_.size(); ++byte) {
    by_first_byte_[byte] = Narrow({0, entries_.size()}, 0, static_cast<char>(byte));
  }
}

bool SpecialTokens::IsWithinWord(std::string_view before, std::string_view behind) const {
  const size_t last = before.size() - LastCharacterLength(before);
  const std::string_view sides[] = {before.substr(last),
                                    behind.substr(0, behind.empty() ? 0 : CharacterLength(behind))};
  MatchScratch scratch;
  return std::any_of(std::begin(sides), std::end(sides), [&](std::string_view character) {
    return word_character_->Find(character, 0, scratch).has_value();
  });
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
    const std::string_view before = text.substr(from, at - from), behind = text.substr(match.end);
    if (entry->surroundings.single_word && IsWithinWord(text.substr(0, at), behind)) {
      at = match.end - 1;
      continue;
    }
    if (entry->surroundings.strip_left) match.begin -= TrailingWhiteSpace(before);
    if (entry->surroundings.strip_right) match.end += LeadingWhiteSpace(behind);
    return match;
  }
  return std::nullopt;
}

}  // namespace kvasir
