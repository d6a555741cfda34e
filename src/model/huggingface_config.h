// The config.json of a Hugging Face folder as the metadata that a GGUF file of the
// model has, so that ReadModelConfig reads both.
#ifndef KVASIR_MODEL_HUGGINGFACE_CONFIG_H_
#define KVASIR_MODEL_HUGGINGFACE_CONFIG_H_

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "format/metadata_builder.h"

namespace kvasir {

// What is told of a model elsewhere than in its metadata.
struct HuggingFaceModel {
  std::string architecture;  // as GGUF names it
  bool tied = false;         // the output is the embedding, whatever else is there
  float norm_offset = 0;     // what norms are stored less: Gemma's 1
  // Tensors that GGUF files hold and config.json gives: divisors of RoPE, by name.
  std::map<std::string, std::vector<float>> rope_divisors;
};

// UNSUPPORTED_MODEL, naming the key of config.json, for what this build does not
// compute as transformers does; MALFORMED_FILE for a value that is missing or of
// another kind. Whether numbers make sense is left to ReadModelConfig.
//
// A window that an architecture slides over in transformers, but not here, limits
// the context to the window: up to it both see the same.
Result<HuggingFaceModel> TranslateConfig(JsonValue config, MetadataBuilder& metadata);

}  // namespace kvasir

#endif  // KVASIR_MODEL_HUGGINGFACE_CONFIG_H_
