// A vocabulary as the sentencepiece library is given it: in a form that the
// library neither refuses nor trips over, whatever the vocabulary holds.
#ifndef KVASIR_TOKENIZER_LIBRARY_MODEL_H_
#define KVASIR_TOKENIZER_LIBRARY_MODEL_H_

#include <sentencepiece_model.pb.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tokenizer/vocabulary.h"

namespace kvasir {

struct VocabularyToken {
  std::string spelling;
  TokenKind kind = TokenKind::kNormal;
  float score = 0.0f;
};

// MALFORMED_FILE, naming tokenizer.ggml.*, for a score that is no number, a byte
// token that is not spelled as one, or some but not all of the 256.
Status CheckVocabulary(const std::vector<VocabularyToken>& tokens);

// A BPE or unigram model of a checked vocabulary. Text can become normal, unused and byte
// tokens only: all others, and those that could not be reached anyway (empty,
// given again further on, spelled as a byte), get a spelling that no text has.
// A vocabulary without byte tokens is given 256 of them beyond its end: ids
// from tokens.size() on stand for the bytes of text that it does not cover.
std::unique_ptr<sentencepiece::ModelProto> BuildLibraryModel(
    const std::vector<VocabularyToken>& tokens, const sentencepiece::NormalizerSpec& normalizer,
    bool unigram);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_LIBRARY_MODEL_H_
