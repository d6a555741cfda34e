// The names of a Hugging Face model's tensors, and the ones they have in GGUF files.
#ifndef KVASIR_MODEL_HUGGINGFACE_TENSORS_H_
#define KVASIR_MODEL_HUGGINGFACE_TENSORS_H_

#include <optional>
#include <string>
#include <string_view>

namespace kvasir {

// GGUF's name; the tensor of an expert has the expert's number before its last
// part ("blk.0.ffn_up.3.weight"). A name that is not known stays as it is. Empty for
// a tensor that is no part of a text model, or follows from the configuration.
// `architecture` is as GGUF names it.
std::optional<std::string> TranslateTensorName(std::string_view name,
                                               std::string_view architecture);

}  // namespace kvasir

#endif  // KVASIR_MODEL_HUGGINGFACE_TENSORS_H_
