// Byte-level BPE vocabularies (GPT-2, Llama 3, Qwen, StarCoder, DeepSeek).
#ifndef KVASIR_TOKENIZER_BYTE_PAIR_TOKENIZER_H_
#define KVASIR_TOKENIZER_BYTE_PAIR_TOKENIZER_H_

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace kvasir {

// Tokens and merges are spelled as GPT-2 does ("Ġ" for a space); special tokens
// as they are.
struct BytePairVocabulary : Vocabulary {
  std::vector<std::string_view> merges;       // "left right", the first merges first
  std::vector<std::string_view> expressions;  // for PreTokenizer
  bool ignore_merges = false;                 // a word that is a token is that token
};

// Encodes as llama.cpp does: text is split at special tokens and cut into words,
// whose bytes are merged. Text is not normalized, nor is a space put before it.
// Unlike there, text never becomes a control token that was not asked for, and of
// special tokens that overlap the first counts, of those at one place the longest,
// as in Hugging Face's tokenizers. A byte that no token stands for, which a text
// has only beyond the planes in use, is left out.
//
// MALFORMED_FILE, naming tokenizer.ggml.*, as CheckVocabularyShape says, and for a
// token that is there twice, a byte token that is not spelled as one, and a merge
// that is no pair of tokens or does not give a token. INVALID_ARGUMENT for an
// expression that PCRE2 does not understand.
Result<std::unique_ptr<Tokenizer>> MakeBytePairTokenizer(const BytePairVocabulary& vocabulary);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_BYTE_PAIR_TOKENIZER_H_
