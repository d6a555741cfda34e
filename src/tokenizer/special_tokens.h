// Finds the spellings of special tokens in text.
#ifndef KVASIR_TOKENIZER_SPECIAL_TOKENS_H_
#define KVASIR_TOKENIZER_SPECIAL_TOKENS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace kvasir {

// The white space beside a token that belongs to it, as its vocabulary has it
// (lstrip and rstrip in a tokenizer.json).
struct Strip {
  bool left = false;
  bool right = false;
};

class SpecialTokens {
 public:
  // `always`: found whether or not special tokens are parsed. Of equal spellings
  // one that is always found counts, else the first.
  void Add(std::string spelling, TokenId id, bool always, Strip strip = {});
  // After the last Add.
  void Prepare();

  struct Match {
    size_t begin;
    size_t end;
    TokenId id;
  };
  // The first match at or after `from`, with the white space that belongs to it;
  // of several at one place the longest.
  std::optional<Match> Find(std::string_view text, size_t from, bool parse_special) const;

 private:
  struct Entry {
    std::string spelling;
    TokenId id;
    bool always;
    Strip strip;
  };
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  // Those of `range`, whose first `depth` bytes are equal, that continue with `byte`.
  Range Narrow(Range range, size_t depth, char byte) const;
  const Entry* EntryAt(std::string_view text, size_t at, bool parse_special) const;

  std::vector<Entry> entries_;  // by spelling
  std::array<Range, 256> by_first_byte_;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SPECIAL_TOKENS_H_
