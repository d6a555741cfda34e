// What fuzz targets of tokenizers share: what a vocabulary makes of texts.
#ifndef KVASIR_TESTS_FUZZ_USE_TOKENIZER_H_
#define KVASIR_TESTS_FUZZ_USE_TOKENIZER_H_

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace kvasir::fuzz {

// Texts are short, since an expression of a vocabulary may take exponential time.
inline void UseTokenizer(const Tokenizer& tokenizer) {
  for (const std::string_view text : {"ab <s>c\n",
                                      " \xc3\xa9"
                                      "a\xe2\x96\x81",
                                      "\xff<0x41>A  b"}) {
    const auto ids = tokenizer.Encode(text, {true, true, true});
    for (TokenId id : ids) {
      if (id < 0 || id >= tokenizer.vocab_size()) std::abort();
    }
    tokenizer.Decode(ids, true);
  }
}

}  // namespace kvasir::fuzz

#endif  // KVASIR_TESTS_FUZZ_USE_TOKENIZER_H_
