// What a config.json says of RoPE. Internal to the reading of config.json.
#ifndef KVASIR_MODEL_HUGGINGFACE_ROPE_H_
#define KVASIR_MODEL_HUGGINGFACE_ROPE_H_

#include <map>
#include <string>
#include <vector>

#include "model/translated_config.h"

namespace kvasir {

// Sets GGUF's keys `rope.*`, from rope_theta and rope_scaling or from the
// rope_parameters of newer files. Gives the divisors that GGUF has as tensors, by
// name. UNSUPPORTED_MODEL for a kind of scaling that is not among default, linear,
// llama3, yarn and longrope. After context_length and the sizes of heads.
std::map<std::string, std::vector<float>> TranslateRope(TranslatedConfig& config, double theta);

}  // namespace kvasir

#endif  // KVASIR_MODEL_HUGGINGFACE_ROPE_H_
