#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kvasir {

void SpecialTokens::Add(std::string spelling, TokenId id, bool always) {
  if (spelling.empty()) return;
  by_first_byte_[static_cast<uint8_t>(spelling[0])].push_back({std::move(spelling), id, always});
}

void SpecialTokens::Prepare() {
  for (std::vector<Entry>& entries : by_first_byte_) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.spelling.size() > b.spelling.size();
    });
  }
}

std::optional<SpecialTokens::Match> SpecialTokens::Find(std::string_view text, size_t from,
                                                        bool parse_special) const {
  for (size_t at = from; at < text.size(); ++at) {
    for (const Entry& entry : by_first_byte_[static_cast<uint8_t>(text[at])]) {
      if (!entry.always && !parse_special) continue;
      if (text.substr(at).starts_with(entry.spelling)) {
        return Match{at, at + entry.spelling.size(), entry.id};
      }
    }
  }
  return std::nullopt;
}

}  // namespace kvasir
