#include "model/huggingface_tensors.h"

#include <algorithm>

#include "model/architectures.h"

namespace kvasir {
namespace {

constexpr std::string_view kLayers = "model.layers.";

struct Name {
  std::string_view from;
  std::string_view to;
};

constexpr Name kOutside[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

// Without the layer's number and the last part.
constexpr Name kInLayer[] = {
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},  // of architectures without norms behind
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
};

// Behind "experts.N.".
constexpr Name kExpertParts[] = {
    {"gate_proj", "ffn_gate"}, {"up_proj", "ffn_up"}, {"down_proj", "ffn_down"},
    {"w1", "ffn_gate"},        {"w3", "ffn_up"},      {"w2", "ffn_down"},
};
constexpr std::string_view kExpertPrefixes[] = {"mlp.experts.", "block_sparse_moe.experts."};

template <size_t n>
std::optional<std::string_view> Find(const Name (&names)[n], std::string_view from) {
  const auto* found =
      std::find_if(names, names + n, [&](const Name& name) { return name.from == from; });
  if (found == names + n) return std::nullopt;
  return found->to;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "<part>.weight" of a layer; empty for one that is not known.
std::optional<std::string> TranslateInLayer(std::string_view name, std::string_view architecture) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view part = name.substr(0, dot), kind = name.substr(dot);
  const Architecture* known = FindArchitecture(architecture);
  const bool behind = known != nullptr && (known->required & kNormsAfter) != 0;
  if (behind && part == "post_attention_layernorm")
    return "post_attention_norm" + std::string(kind);
  if (const auto to = Find(kInLayer, part)) return std::string(*to) + std::string(kind);
  for (std::string_view prefix : kExpertPrefixes) {
    if (!part.starts_with(prefix)) continue;
    const std::string_view rest = part.substr(prefix.size());
    const size_t end = rest.find('.');
    if (end == std::string_view::npos || !IsNumber(rest.substr(0, end))) continue;
    if (const auto to = Find(kExpertParts, rest.substr(end + 1))) {
      return std::string(*to) + "." + std::string(rest.substr(0, end)) + std::string(kind);
    }
  }
  return std::nullopt;
}

// Where a model has images too, the language model stands under a name of its own.
std::string WithoutLanguageModel(std::string_view name) {
  for (std::string_view prefix : {"language_model.", "model.language_model."}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    const bool whole = rest.starts_with("model.") || rest.starts_with("lm_head.");
    return (whole ? "" : "model.") + std::string(rest);
  }
  return std::string(name);
}

bool IsLeftOut(std::string_view name) {
  for (std::string_view part : {"vision_tower.", "multi_modal_projector."}) {
    if (name.starts_with(part) || name.starts_with("model." + std::string(part))) return true;
  }
  return name.ends_with("rotary_emb.inv_freq");
}

}  // namespace

std::optional<std::string> TranslateTensorName(std::string_view name,
                                               std::string_view architecture) {
  if (IsLeftOut(name)) return std::nullopt;
  const std::string whole = WithoutLanguageModel(name);
  if (const auto to = Find(kOutside, whole)) return std::string(*to);
  if (!whole.starts_with(kLayers)) return std::string(name);
  const std::string_view rest = std::string_view(whole).substr(kLayers.size());
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos || !IsNumber(rest.substr(0, dot))) return std::string(name);
  const auto to = TranslateInLayer(rest.substr(dot + 1), architecture);
  if (!to) return std::string(name);
  return "blk." + std::string(rest.substr(0, dot)) + "." + *to;
}

}  // namespace kvasir
