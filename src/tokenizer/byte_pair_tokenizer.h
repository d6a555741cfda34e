// Byte-level BPE vocabularies (GPT-2, Llama 3, Qwen, StarCoder, DeepSeek).
#ifndef KVASIR_TOKENIZER_BYTE_PAIR_TOKENIZER_H_
#define KVASIR_TOKENIZER_BYTE_PAIR_TOKENIZER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace kvasir {

// The space that goes before a text.
struct SpacePrefix {
  bool adds = false;
  bool first_only = false;    // not behind special tokens
  bool unless_there = false;  // not where the text begins with one
  bool normalizes = false;    // before added tokens are looked for in normalized text
};

// Text as the vocabulary wants it, such as NFC; of whole UTF-8.
using Normalize = std::function<std::string(std::string_view)>;

// Tokens and merges are spelled as GPT-2 does ("Ġ" for a space), or where
// `by_characters` as SentencePiece does ("▁"); special tokens as they are.
struct BytePairVocabulary : Vocabulary {
  std::vector<std::string_view> merges;  // "left right", the first merges first
  // The same as pairs, where a file has them so: tokens may hold spaces.
  std::vector<std::pair<std::string_view, std::string_view>> merge_pairs;
  std::vector<std::string_view> expressions;  // for PreTokenizer
  bool matches_only = false;                  // too
  bool ignore_merges = false;                 // a word that is a token is that token
  // Words begin as characters, and as the bytes (kByte) of those that are no tokens.
  bool by_characters = false;
  bool fuse_unknown = false;  // a run of characters without tokens is one unknown token
  SpacePrefix space_prefix;
  Normalize normalize;  // none: text stays as it is
  // Special tokens that are looked for in normalized text, where all others are not.
  std::vector<TokenId> normalized;
};

// Encodes as llama.cpp does: text is split at special tokens and cut into words,
// whose bytes are merged. Text is normalized, and a space put before it, only where
// the vocabulary says so.
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
