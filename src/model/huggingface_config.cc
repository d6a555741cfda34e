#include "model/huggingface_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "model/huggingface_rope.h"
#include "model/translated_config.h"

namespace kvasir {
namespace {

// Defaults are those of the model's class in transformers: config.json may leave
// out what is equal to them.
struct Kind {
  std::string_view model_type;
  std::string_view architecture;  // as GGUF names it
  double rope_theta = 10000;
  double eps = 1e-6;
  bool gemma = false;
  bool slides = false;  // the architecture has sliding layers here
};

constexpr Kind kKinds[] = {
    {"llama", "llama"},
    {"mistral", "llama"},
    {"mixtral", "llama", 1e6, 1e-5},
    {"qwen2", "qwen2"},
    {"qwen3", "qwen3"},
    {"qwen3_moe", "qwen3moe"},
    {.model_type = "gemma2", .architecture = "gemma2", .gemma = true, .slides = true},
    {"gemma3_text", "gemma3", 1e6, 1e-6, true, true},
    {.model_type = "phi3", .architecture = "phi3", .eps = 1e-5, .slides = true},
    {"olmo2", "olmo2", 10000, 1e-5},
    {"granite", "granite"},
    {"smollm3", "smollm3", 2e6},
};

struct Number {
  std::string_view from;  // config.json's key
  std::string_view to;    // GGUF's, behind the architecture
};
constexpr Number kNumbers[] = {
    {"hidden_size", "embedding_length"},
    {"num_hidden_layers", "block_count"},
    {"intermediate_size", "feed_forward_length"},
    {"attention_multiplier", "attention.scale"},
    {"embedding_multiplier", "embedding_scale"},
    {"residual_multiplier", "residual_scale"},
    {"logits_scaling", "logit_scale"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"head_dim", "attention.value_length"},
    {"num_local_experts", "expert_count"},
    {"num_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
};

// What config.json may leave out.
struct Default {
  std::string_view architecture;
  std::string_view to;
  double value;
};
constexpr Default kDefaults[] = {
    {"gemma2", "attention.key_length", 256},  {"gemma2", "attention.value_length", 256},
    {"gemma2", "attention.head_count", 8},    {"gemma2", "attention.head_count_kv", 4},
    {"gemma2", "attn_logit_softcapping", 50}, {"gemma2", "final_logit_softcapping", 30},
    {"gemma3", "attention.key_length", 256},  {"gemma3", "attention.value_length", 256},
    {"gemma3", "attention.head_count", 8},    {"gemma3", "attention.head_count_kv", 4},
};

const Kind* FindKind(std::string_view model_type) {
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& each) { return each.model_type == model_type; });
  return kind == std::end(kKinds) ? nullptr : kind;
}

Status UnknownKind(std::string_view model_type) {
  std::string known;
  for (const Kind& kind : kKinds) {
    known += (known.empty() ? "" : ", ") + std::string(kind.model_type);
  }
  return UnsupportedModel("config.json: model_type \"" + std::string(model_type) +
                          "\" is not supported; this build runs " + known);
}

void TranslateNumbers(TranslatedConfig& config, const Kind& kind) {
  for (const Number& number : kNumbers) {
    if (config.Has(number.from)) config.Set(number.to, config.Number(number.from, 0));
  }
  for (const Default& standard : kDefaults) {
    if (standard.architecture == kind.architecture && !config.IsSet(standard.to)) {
      config.Set(standard.to, standard.value);
    }
  }
  for (std::string_view key : {"hidden_size", "num_hidden_layers", "intermediate_size"}) {
    if (!config.Has(key)) config.Missing(key);
  }
  if (!kind.gemma && !config.Has("num_attention_heads")) config.Missing("num_attention_heads");
  config.Set("attention.layer_norm_rms_epsilon", config.Number("rms_norm_eps", kind.eps));
}

void CheckActivation(TranslatedConfig& config, const Kind& kind) {
  if (kind.gemma) {
    const std::string_view name = config.Text("hidden_activation", "gelu_pytorch_tanh");
    if (name != "gelu_pytorch_tanh") config.Unsupported("hidden_activation", name);
    return;
  }
  const std::string_view name = config.Text("hidden_act", "silu");
  if (name != "silu" && name != "swish") config.Unsupported("hidden_act", name);
}

// Of so many layers the last is "full_attention"; 0 where the list has another
// order, and one more than there are layers where none is.
int64_t PeriodOf(JsonValue layer_types) {
  const int64_t count = static_cast<int64_t>(layer_types.size());
  int64_t period = count + 1, i = 0;
  for (JsonValue type : layer_types.Items()) {
    const bool full = type.StringOr("") == "full_attention";
    ++i;
    if (full && period > count) period = i;
    if (full != (i % period == 0)) return 0;
  }
  return period;
}

bool AnySlides(JsonValue layer_types) {
  for (JsonValue type : layer_types.Items()) {
    if (type.StringOr("") == "sliding_attention") return true;
  }
  return false;
}

// How far a query sees in an architecture whose layers do not slide here.
int64_t ReachOf(const TranslatedConfig& config, int64_t context) {
  const JsonValue types = config["layer_types"];
  const bool slides =
      types.IsArray() ? AnySlides(types) : config["use_sliding_window"].BoolOr(true);
  const std::optional<int64_t> window = config["sliding_window"].Int();
  return slides && window && *window > 0 ? std::min(*window, context) : context;
}

void TranslateWindows(TranslatedConfig& config, const Kind& kind) {
  const double context = kind.gemma ? (kind.architecture == "gemma2" ? 8192 : 131072) : 2048;
  int64_t length = static_cast<int64_t>(config.Number("max_position_embeddings", context));
  if (!kind.slides) length = ReachOf(config, length);
  config.Set("context_length", length);
  if (!kind.slides) return;
  const double window = config.Number("sliding_window", kind.gemma ? 4096 : 0);
  config.Set("attention.sliding_window", window);
  if (!kind.gemma) return;
  const double standard = kind.architecture == "gemma2" ? 2 : 6;
  const double named = config.Number("_sliding_window_pattern", standard);
  double period = config.Number("sliding_window_pattern", named);
  if (config["layer_types"].IsArray()) {
    period = static_cast<double>(PeriodOf(config["layer_types"]));
    if (period == 0) config.Unsupported("layer_types", "an order without a period");
  }
  config.Set("attention.sliding_window_pattern", period);
}

void TranslateGemma(TranslatedConfig& config) {
  const double scalar = config.Number("query_pre_attn_scalar", 256);
  if (!(scalar > 0)) return config.Missing("query_pre_attn_scalar");
  config.Set("attention.scale", 1 / std::sqrt(scalar));
  if (config["use_bidirectional_attention"].BoolOr(false)) {
    config.Unsupported("use_bidirectional_attention", "true");
  }
}

void CheckExperts(TranslatedConfig& config) {
  if (!config["norm_topk_prob"].BoolOr(false)) config.Unsupported("norm_topk_prob", "false");
  if (config.Number("decoder_sparse_step", 1) != 1) {
    config.Unsupported("decoder_sparse_step", "another number than 1");
  }
  if (config["mlp_only_layers"].size() > 0) config.Unsupported("mlp_only_layers", "a list");
}

// SmolLM3's table entry knows one order of layers that do not rotate.
void CheckRotatingLayers(TranslatedConfig& config) {
  constexpr int64_t kPeriod = 4;
  int64_t i = 0;
  for (JsonValue rotates : config["no_rope_layers"].Items()) {
    ++i;
    if (rotates.Int() != (i % kPeriod == 0 ? 0 : 1)) {
      return config.Unsupported("no_rope_layers", "another list than every fourth");
    }
  }
  if (config.Number("no_rope_layer_interval", kPeriod) != kPeriod) {
    config.Unsupported("no_rope_layer_interval", "another number than 4");
  }
}

}  // namespace

Result<HuggingFaceModel> TranslateConfig(JsonValue root, MetadataBuilder& metadata) {
  if (!root.IsObject()) return MalformedFile("config.json is not a JSON object");
  std::string_view type = root["model_type"].StringOr("");
  const bool with_images = type == "gemma3";
  if (with_images) type = "gemma3_text";
  const Kind* kind = FindKind(type);
  if (kind == nullptr) return UnknownKind(type);
  if (root["quantization_config"].Exists()) {
    return UnsupportedModel(
        "config.json: weights that are quantized (quantization_config) are not supported; take "
        "the model as it was before, and quantize it while loading");
  }

  const JsonValue values = with_images ? root["text_config"] : root;
  if (!values.IsObject()) return MalformedFile("config.json: text_config is missing");
  TranslatedConfig config(values, kind->architecture, metadata);
  HuggingFaceModel model;
  model.architecture = kind->architecture;
  model.norm_offset = kind->gemma ? 1.0f : 0.0f;
  const bool tied = kind->gemma || kind->model_type == "smollm3";
  model.tied = root["tie_word_embeddings"].BoolOr(values["tie_word_embeddings"].BoolOr(tied));

  TranslateNumbers(config, *kind);
  CheckActivation(config, *kind);
  TranslateWindows(config, *kind);
  if (kind->gemma) TranslateGemma(config);
  if (kind->model_type == "qwen3_moe") CheckExperts(config);
  if (kind->model_type == "smollm3") CheckRotatingLayers(config);
  model.rope_divisors = TranslateRope(config, kind->rope_theta);
  if (!config.status().ok()) return config.status();
  metadata.Set("general.architecture", model.architecture);
  return model;
}

}  // namespace kvasir
