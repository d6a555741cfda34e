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

// What a GGUF file says of a SentencePiece vocabulary (tokenizer.ggml.*). The
// views need to live only during the call that takes this.
struct SentencePieceVocabulary {
  std::vector<std::string_view> tokens;
  std::vector<float> scores;     // as long as tokens, or empty
  std::vector<int32_t> kinds;    // as long as tokens, or empty: all normal
  TokenId bos = 1;
  TokenId eos = 2;
  TokenId unknown = 0;
  std::vector<TokenId> end_of_generation;  // beside eos
  bool add_bos = true;
  bool add_space_prefix = true;
};

// MALFORMED_FILE (naming tokenizer.ggml.*) when lengths differ, an id is out of
// range, a token is empty or given twice where that matters, or the library
// refuses the model.
Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const SentencePieceVocabulary& vocabulary);

// From the bytes of a `tokenizer.model` (a serialized ModelProto).
Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(std::string_view model_proto);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
