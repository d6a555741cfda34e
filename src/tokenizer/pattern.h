// Regular expressions over UTF-8, through PCRE2: the ones that vocabularies cut
// text with.
#ifndef KVASIR_TOKENIZER_PATTERN_H_
#define KVASIR_TOKENIZER_PATTERN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/status.h"

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace kvasir {

// Memory for matching, which one thread at a time may use, for any patterns.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;

 private:
  friend class Pattern;
  pcre2_real_match_data_8* data_;
  pcre2_real_match_context_8* context_;
};

class Pattern {
 public:
  // The syntax is Perl's with Unicode properties (\p{L}), as in Hugging Face's
  // tokenizer.json; \s is the property White_Space, and \S its complement, which
  // may not stand in brackets. INVALID_ARGUMENT, saying where, for a wrong one.
  static Result<Pattern> Compile(std::string_view expression);

  struct Match {
    size_t begin;
    size_t end;
  };
  // The first match in `text` at or after `from`, which is whole UTF-8; `text`
  // ends the world: nothing behind it is seen. An empty match is none. Backtracking
  // is not limited, so that a word of any length is matched: an expression that
  // comes from outside must be trusted with the time it takes.
  std::optional<Match> Find(std::string_view text, size_t from, MatchScratch& scratch) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  explicit Pattern(pcre2_real_code_8* code) : code_(code) {}

  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_PATTERN_H_
