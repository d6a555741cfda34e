// What a model file says of its vocabulary, whatever kind that is.
#ifndef KVASIR_TOKENIZER_VOCABULARY_H_
#define KVASIR_TOKENIZER_VOCABULARY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// Token kinds with GGUF's and SentencePiece's shared numbers.
enum class TokenKind : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

inline constexpr TokenId kNoToken = -1;

// The keys tokenizer.ggml.* that all kinds share. The views need to live only
// during the call that takes this.
struct Vocabulary {
  std::vector<std::string_view> tokens;
  std::vector<int32_t> kinds;              // as long as tokens, or empty: told by ids and spellings
  TokenId bos = kNoToken;                  // kNoToken or beyond the vocabulary: none
  TokenId eos = kNoToken;                  // kNoToken or beyond the vocabulary: none
  TokenId unknown = kNoToken;              // kNoToken: none
  std::vector<TokenId> end_of_generation;  // beside eos
  std::vector<TokenId> strip_right;        // special tokens that take the white space after them
  std::vector<TokenId> strip_left;         // and before them
  std::vector<TokenId> single_words;       // special tokens that are not found within words
  bool add_bos = false;
  bool add_eos = false;
};

// MALFORMED_FILE naming `key` unless an array of `length` entries is empty or
// fits `tokens` tokens.
Status CheckLength(std::string_view key, size_t length, size_t tokens);

// MALFORMED_FILE (naming tokenizer.ggml.*) when there are no tokens or too many,
// lengths differ, or a kind or the unknown token's id is out of range.
Status CheckVocabularyShape(const Vocabulary& vocabulary);

// Adds to end_of_generation the control and user-defined tokens that are spelled as
// one of `names`.
void AddEndsByName(std::span<const std::string_view> names, Vocabulary& vocabulary);

// The value of a byte token's spelling, "<0x00>".."<0xFF>".
std::optional<int> ByteValue(std::string_view spelling);

// The kind of each token of a vocabulary whose shape is right. Without kinds in
// the file, BOS and EOS are control tokens, and "<0x00>".."<0xFF>" are bytes where
// `has_bytes`.
std::vector<TokenKind> TokenKinds(const Vocabulary& vocabulary, bool has_bytes);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_VOCABULARY_H_
