// Finds the spellings of special tokens in text.
#ifndef KVASIR_TOKENIZER_SPECIAL_TOKENS_H_
#define KVASIR_TOKENIZER_SPECIAL_TOKENS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pattern.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// What may stand beside a token, as its vocabulary has it: the white space that belongs
// to it (lstrip and rstrip in a tokenizer.json), and no part of a word (single_word).
struct Surroundings {
  bool strip_left = false;
  bool strip_right = false;
  bool single_word = false;
};

class SpecialTokens {
 public:
  // `always`: found whether or not special tokens are parsed. Of equal spellings
  // one that is always found counts, else the first.
  void Add(std::string spelling, TokenId id, bool always, Surroundings surroundings = {});
  // After the last Add.
  void Prepare();

  struct Match {
    size_t begin;
    size_t end;
    TokenId id;
  };
  // The first match at or after `from`, with the white space that belongs to it;
  // of several at one place the longest. A single word that is none is passed over.
  std::optional<Match> Find(std::string_view text, size_t from, bool parse_special) const;

 private:
  struct Entry {
    std::string spelling;
    TokenId id;
    bool always;
    Surroundings surroundings;
  };
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  bool IsWithinWord(std::string_view before, std::string_view behind) const;
  // Those of `range`, whose first `depth` bytes are equal, that continue with `byte`.
  Range Narrow(Range range, size_t depth, char byte) const;
  const Entry* EntryAt(std::string_view text, size_t at, bool parse_special) const;

  std::vector<Entry> entries_;  // by spelling
  std::array<Range, 256> by_first_byte_;
  std::optional<Pattern> word_character_;  // where there are single words
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SPECIAL_TOKENS_H_
