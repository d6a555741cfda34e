// The tokenizer that a model file describes.
#ifndef KVASIR_RUNTIME_LOAD_TOKENIZER_H_
#define KVASIR_RUNTIME_LOAD_TOKENIZER_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "format/metadata.h"
#include "tokenizer/byte_pair_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// From the keys tokenizer.ggml.*, or those of a folder (folder_metadata.h). `nfc` is for
// vocabularies that ask for NFC. UNSUPPORTED_MODEL for a kind of vocabulary
// that this build does not have, MALFORMED_FILE, naming the key, for one that is
// missing or does not fit.
Result<std::unique_ptr<Tokenizer>> LoadTokenizer(const Metadata& metadata,
                                                 const Normalize& nfc = {});

// What kind of vocabulary it is, in a few words for a person; empty if nothing says.
std::string VocabularyKind(const Metadata& metadata);

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_LOAD_TOKENIZER_H_
