// SentencePiece vocabularies (Llama 1 and 2, Mistral, Phi-3, TinyLlama), through
// the sentencepiece library.
#ifndef KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
#define KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace kvasir {

// What a GGUF file says of a SentencePiece vocabulary (tokenizer.ggml.*).
struct SentencePieceVocabulary : Vocabulary {
  // The ids that a file means which names none: Llama's.
  SentencePieceVocabulary() {
    bos = 1;
    eos = 2;
    unknown = 0;
    add_bos = true;
  }

  std::vector<float> scores;  // as long as tokens, or empty: all 0
  bool add_space_prefix = true;
  bool unigram = false;  // scores are log-probabilities, and the likeliest pieces count
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
// normalization rules; a BPE or a unigram model. `end_of_generation`: beside its EOS.
// UNSUPPORTED_MODEL for another kind, or where spaces come after words.
Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    std::string_view model_proto, const std::vector<TokenId>& end_of_generation = {});

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
