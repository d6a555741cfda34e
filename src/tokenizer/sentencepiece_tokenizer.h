// SentencePiece vocabularies (Llama 1 and 2, Mistral, Phi-3, TinyLlama), through
// the sentencepiece library.
#ifndef KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
#define KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_

#include <cstdint>
#include <memory>
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

// What a GGUF file says of a SentencePiece vocabulary (tokenizer.ggml.*). The
// views need to live only during the call that takes this.
struct SentencePieceVocabulary {
  std::vector<std::string_view> tokens;
  std::vector<float> scores;               // as long as tokens, or empty: all 0
  std::vector<int32_t> kinds;              // as long as tokens, or empty: told by ids and spellings
  TokenId bos = 1;                         // kNoToken or beyond the vocabulary: none
  TokenId eos = 2;                         // kNoToken or beyond the vocabulary: none
  TokenId unknown = 0;                     // kNoToken: none
  std::vector<TokenId> end_of_generation;  // beside eos
  bool add_bos = true;
  bool add_space_prefix = true;
};

// Encodes as llama.cpp does: text is split at special tokens, a space goes before
// the text at the start and after each, and of equal tokens the last one counts.
// Unlike there, text never becomes a control token that was not asked for.
// Without byte tokens, a run of text that the vocabulary does not cover becomes
// one unknown token, or nothing where there is none.
//
// MALFORMED_FILE (naming tokenizer.ggml.*) when lengths differ, a kind or the
// unknown token's id is out of range, a score is no number, or some byte tokens
// are missing, repeated or misspelled.
Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const SentencePieceVocabulary& vocabulary);

// From the bytes of a `tokenizer.model` (a serialized ModelProto), with its
// normalization rules. UNSUPPORTED_MODEL when it is not a BPE model
// or puts spaces after words.
Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(std::string_view model_proto);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
