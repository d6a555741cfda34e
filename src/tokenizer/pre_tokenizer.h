// Cuts text into the words that byte-pair merges do not cross.
#ifndef KVASIR_TOKENIZER_PRE_TOKENIZER_H_
#define KVASIR_TOKENIZER_PRE_TOKENIZER_H_

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/pattern.h"

namespace kvasir {

class PreTokenizer {
 public:
  // Each expression in turn cuts the pieces that the ones before it left: every
  // match is a piece, and so is what lies between two ("Isolated" splits). Without
  // expressions, a text is one piece. `matches_only`: what lies between is left out.
  static Result<PreTokenizer> Create(std::span<const std::string_view> expressions,
                                     bool matches_only = false);

  // Calls `take` with the pieces of `text`, which is UTF-8, in order; together they
  // are the text, unless matches_only.
  void Split(std::string_view text, const std::function<void(std::string_view)>& take) const;

 private:
  std::vector<Pattern> patterns_;
  bool matches_only_ = false;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_PRE_TOKENIZER_H_
