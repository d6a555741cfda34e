#include "model/huggingface_rope.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace kvasir {
namespace {

using Divisors = std::map<std::string, std::vector<float>>;

// No head is larger; it keeps absurd files from asking for memory.
constexpr double kLargestDims = 1 << 16;

struct Rope {
  JsonValue scaling;  // none: an object without keys
  double theta;
  double context;  // that config.json says
  double dims;
};

double OriginalContext(TranslatedConfig& config, const Rope& rope) {
  const double named = config.Number("original_max_position_embeddings", rope.context);
  return config.Number(rope.scaling, "original_max_position_embeddings", named);
}

// Long waves are slowed down by the factor, short ones not, those between in part.
// Source: transformers' modeling_rope_utils.py (_compute_llama3_parameters).
std::vector<float> Llama3Divisors(TranslatedConfig& config, const Rope& rope) {
  const double factor = config.Number(rope.scaling, "factor", 1);
  const double low = config.Number(rope.scaling, "low_freq_factor", 1);
  const double high = config.Number(rope.scaling, "high_freq_factor", 4);
  const double original = OriginalContext(config, rope);
  std::vector<float> divisors;
  for (double j = 0; j < rope.dims / 2; ++j) {
    const double wavelength = 2 * std::numbers::pi * std::pow(rope.theta, 2 * j / rope.dims);
    double divisor = 1;
    if (wavelength > original / low) {
      divisor = factor;
    } else if (wavelength >= original / high) {
      const double keep = (original / wavelength - low) / (high - low);
      divisor = 1 / ((1 - keep) / factor + keep);
    }
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

std::vector<float> Numbers(TranslatedConfig& config, const Rope& rope, std::string_view key) {
  std::vector<float> numbers;
  for (JsonValue item : rope.scaling[key].Items()) {
    numbers.push_back(static_cast<float>(item.Number().value_or(0)));
  }
  if (numbers.size() * 2 != static_cast<size_t>(rope.dims)) {
    config.Fail(MalformedFile("config.json: " + std::string(key) + " has " +
                              std::to_string(numbers.size()) + " entries for " +
                              std::to_string(static_cast<int64_t>(rope.dims)) + " dimensions"));
  }
  return numbers;
}

void TranslateYarn(TranslatedConfig& config, const Rope& rope) {
  const double factor = config.Number(rope.scaling, "factor", 1);
  config.SetText("rope.scaling.type", "yarn");
  config.Set("rope.scaling.factor", factor);
  config.Set("rope.scaling.original_context_length", OriginalContext(config, rope));
  config.Set("rope.scaling.yarn_beta_fast", config.Number(rope.scaling, "beta_fast", 32));
  config.Set("rope.scaling.yarn_beta_slow", config.Number(rope.scaling, "beta_slow", 1));
  // GGUF's factor comes on top of the one that follows from the scaling.
  const double implied = 1 + 0.1 * std::log(factor);
  config.Set("rope.scaling.attn_factor",
             config.Number(rope.scaling, "attention_factor", implied) / implied);
  for (std::string_view key : {"mscale", "mscale_all_dim"}) {
    if (rope.scaling[key].Exists()) config.Unsupported(key, "a part of YaRN");
  }
}

void TranslateLongRope(TranslatedConfig& config, const Rope& rope, Divisors& divisors) {
  const double original = OriginalContext(config, rope);
  const double factor = rope.context / original;
  const double implied = factor > 1 ? std::sqrt(1 + std::log(factor) / std::log(original)) : 1;
  config.Set("rope.scaling.original_context_length", original);
  config.Set("rope.scaling.attn_factor", config.Number(rope.scaling, "attention_factor", implied));
  divisors["rope_factors_long.weight"] = Numbers(config, rope, "long_factor");
  divisors["rope_factors_short.weight"] = Numbers(config, rope, "short_factor");
}

Divisors TranslateScaling(TranslatedConfig& config, const Rope& rope) {
  Divisors divisors;
  const std::string_view kind =
      rope.scaling["rope_type"].StringOr(rope.scaling["type"].StringOr("default"));
  if (kind == "linear") {
    config.SetText("rope.scaling.type", "linear");
    config.Set("rope.scaling.factor", config.Number(rope.scaling, "factor", 1));
  } else if (kind == "llama3") {
    divisors["rope_freqs.weight"] = Llama3Divisors(config, rope);
  } else if (kind == "yarn") {
    TranslateYarn(config, rope);
  } else if (kind == "longrope" || kind == "su") {
    TranslateLongRope(config, rope, divisors);
  } else if (kind != "default") {
    config.Unsupported("rope_type", kind);
  }
  return divisors;
}

double HeadDim(TranslatedConfig& config) {
  const double heads = config.Number("num_attention_heads", 8);
  const double share = std::floor(config.Number("hidden_size", 0) / heads);
  return config.Number("head_dim", config.IsSet("attention.key_length") ? 256 : share);
}

}  // namespace

Divisors TranslateRope(TranslatedConfig& config, double theta) {
  const JsonValue parameters = config["rope_parameters"];
  // By kinds of layers, or the same for all.
  const JsonValue by_kind = parameters["full_attention"];
  Rope rope;
  rope.scaling = by_kind.Exists()      ? by_kind
                 : parameters.Exists() ? parameters
                                       : config["rope_scaling"];
  rope.theta = config.Number(rope.scaling, "rope_theta", config.Number("rope_theta", theta));
  rope.context = config.Number("max_position_embeddings", 2048);
  const double share = config.Number(rope.scaling, "partial_rotary_factor",
                                     config.Number("partial_rotary_factor", 1));
  rope.dims = std::floor(HeadDim(config) * share);
  if (!(rope.dims >= 2 && rope.dims <= kLargestDims) || !(rope.theta > 0)) {
    config.Fail(
        MalformedFile("config.json: head_dim, partial_rotary_factor or rope_theta make no "
                      "rotation"));
    return {};
  }
  config.Set("rope.freq_base", rope.theta);
  config.Set("rope.dimension_count", rope.dims);
  config.SetText("rope.pairs", "halves");
  if (by_kind.Exists() || config.Has("rope_local_base_freq")) {
    const double local = config.Number("rope_local_base_freq", 10000);
    config.Set("rope.freq_base_swa",
               config.Number(parameters["sliding_attention"], "rope_theta", local));
  }
  return TranslateScaling(config, rope);
}

}  // namespace kvasir
