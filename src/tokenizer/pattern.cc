#include "tokenizer/pattern.h"

#include <pcre2.h>

#include <cstdint>
#include <limits>
#include <string>

namespace kvasir {
namespace {

// White_Space, to stand in brackets. PCRE2's own \s has U+180E too, which Unicode
// took out of it.
constexpr std::string_view kWhiteSpace = "\\x09-\\x0d\\x{85}\\p{Z}";

// Spells \s and \S out.
std::string WithWhiteSpace(std::string_view expression) {
  std::string spelled;
  bool in_brackets = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\' || i + 1 == expression.size()) {
      if (c == '[') in_brackets = true;
      if (c == ']') in_brackets = false;
      spelled += c;
      continue;
    }
    const char escaped = expression[++i];
    if (escaped == 's' && in_brackets) {
      spelled += kWhiteSpace;
    } else if (escaped == 's' || (escaped == 'S' && !in_brackets)) {
      spelled += escaped == 's' ? "[" : "[^";
      spelled += kWhiteSpace;
      spelled += ']';
    } else {
      spelled += c;
      spelled += escaped;
    }
  }
  return spelled;
}

PCRE2_SPTR Units(std::string_view text) {
  static constexpr char kEmpty[] = "";  // PCRE2 wants an address
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? kEmpty : text.data());
}

}  // namespace

MatchScratch::MatchScratch()
    : data_(pcre2_match_data_create(1, nullptr)), context_(pcre2_match_context_create(nullptr)) {
  if (context_ == nullptr) return;
  constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();
  pcre2_set_match_limit(context_, kUnlimited);
  pcre2_set_depth_limit(context_, kUnlimited);
  pcre2_set_heap_limit(context_, kUnlimited);
}

MatchScratch::~MatchScratch() {
  pcre2_match_data_free(data_);
  pcre2_match_context_free(context_);
}

void Pattern::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<Pattern> Pattern::Compile(std::string_view expression) {
  const std::string spelled = WithWhiteSpace(expression);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code =
      pcre2_compile(Units(spelled), spelled.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_CAPTURE,
                    &error, &offset, nullptr);
  if (code != nullptr) return Pattern(code);
  return InvalidArgument("the pattern " + spelled + " cannot be used: PCRE2's error " +
                         std::to_string(error) + " at byte " + std::to_string(offset));
}

std::optional<Pattern::Match> Pattern::Find(std::string_view text, size_t from,
                                            MatchScratch& scratch) const {
  if (scratch.data_ == nullptr || scratch.context_ == nullptr) return std::nullopt;
  const int count =
      pcre2_match(code_.get(), Units(text), text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY,
                  scratch.data_, scratch.context_);
  if (count < 0) return std::nullopt;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch.data_);
  return Match{ends[0], ends[1]};
}

}  // namespace kvasir
