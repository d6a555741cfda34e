// Vocabularies of Hugging Face's tokenizers library: tokenizer.json.
#ifndef KVASIR_TOKENIZER_TOKENIZER_JSON_H_
#define KVASIR_TOKENIZER_TOKENIZER_JSON_H_

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/byte_pair_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// What the files beside a tokenizer.json say. The views need to live only during
// the call that takes this.
struct TokenizerJsonOptions {
  std::string_view bos_token, eos_token;  // spellings; empty: not said
  std::optional<TokenId> bos_id;          // counts before the spelling
  std::vector<TokenId> eos_ids;  // the first is EOS, all end a generation; before the spelling
  std::optional<bool> add_bos, add_eos;  // else as the post-processor does
  // Spellings that end a generation where they are added tokens.
  std::span<const std::string_view> end_of_turn_names;
  Normalize nfc;  // for vocabularies that ask for NFC; without it text stays as it is
};

// Byte-level BPE (ByteLevel, Split with a regular expression, Digits, NFC) and BPE
// of characters with bytes for the others (Metaspace, or Prepend and Replace). Added tokens
// are found in the text as it is given, before any normalization. MALFORMED_FILE,
// or UNSUPPORTED_MODEL naming the part that this build does not have.
Result<std::unique_ptr<Tokenizer>> MakeTokenizerFromJson(std::string_view json,
                                                         const TokenizerJsonOptions& options);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_TOKENIZER_JSON_H_
