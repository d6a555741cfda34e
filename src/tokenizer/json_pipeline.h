// The steps that a tokenizer.json takes text through before its model: normalizers
// and pre-tokenizers. Internal to the reading of tokenizer.json.
#ifndef KVASIR_TOKENIZER_JSON_PIPELINE_H_
#define KVASIR_TOKENIZER_JSON_PIPELINE_H_

#include <deque>
#include <string>

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/byte_pair_tokenizer.h"

namespace kvasir {

class JsonPipeline {
 public:
  // Sets what spaces and words are in `vocabulary`. UNSUPPORTED_MODEL naming a step
  // that this build does not have.
  Status Read(JsonValue root, BytePairVocabulary& vocabulary);

  // The expressions of what was read; this must outlive their use.
  void GiveExpressions(BytePairVocabulary& vocabulary) const;

  bool asks_for_nfc = false;

 private:
  Status ReadNormalizer(JsonValue step, BytePairVocabulary& vocabulary);
  Status ReadPreTokenizer(JsonValue step, BytePairVocabulary& vocabulary);
  Status ReadSplit(JsonValue step, BytePairVocabulary& vocabulary);
  void ReadMetaspace(JsonValue step, BytePairVocabulary& vocabulary);

  std::deque<std::string> expressions_;
  bool by_bytes_ = false;  // there is a ByteLevel
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_JSON_PIPELINE_H_
