// The small files of a Hugging Face folder as the metadata that a GGUF file of the
// model has.
#ifndef KVASIR_RUNTIME_FOLDER_METADATA_H_
#define KVASIR_RUNTIME_FOLDER_METADATA_H_

#include <map>
#include <optional>
#include <string>

#include "base/status.h"
#include "format/metadata.h"
#include "model/huggingface_config.h"

namespace kvasir {

struct FolderMetadata {
  Metadata metadata;
  std::optional<HuggingFaceModel> model;  // where there is a config.json
};

// `texts`: the files' contents by name; taken from. Beside config.json's keys:
//
//   tokenizer.huggingface.json           tokenizer.json, whole
//   tokenizer.huggingface.model          else tokenizer.model, whole
//   tokenizer.huggingface.{bos,eos}_token  their spellings (tokenizer_config.json,
//   special_tokens_map.json) tokenizer.ggml.bos_token_id          and tokenizer.ggml.eos_token_ids
//   all of them (generation_config.json, else config.json) tokenizer.ggml.add_bos_token,
//   add_eos_token tokenizer.chat_template              chat_template.jinja, else
//   tokenizer_config.json's tokenizer.chat_template.NAME         those with names
//   general.sampling.{temp,top_k,top_p,min_p,penalty_repeat}  (generation_config.json)
//
// MALFORMED_FILE naming the file, and the errors of TranslateConfig.
Result<FolderMetadata> ReadFolderMetadata(std::map<std::string, std::string>& texts);

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_FOLDER_METADATA_H_
