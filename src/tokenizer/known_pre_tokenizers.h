// The pre-tokenizers that files name (tokenizer.ggml.pre).
#ifndef KVASIR_TOKENIZER_KNOWN_PRE_TOKENIZERS_H_
#define KVASIR_TOKENIZER_KNOWN_PRE_TOKENIZERS_H_

#include <span>
#include <string>
#include <string_view>

namespace kvasir {

struct KnownPreTokenizer {
  std::span<const std::string_view> expressions;  // for PreTokenizer
  // What the models of this name do besides:
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
  bool add_bos = false;        // unless the file says otherwise
};

// Null for a name that is not known.
const KnownPreTokenizer* FindPreTokenizer(std::string_view name);

// All names, for people: "default, gpt-2, ...".
std::string PreTokenizerNames();

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_KNOWN_PRE_TOKENIZERS_H_
