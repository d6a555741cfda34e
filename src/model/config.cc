#include "model/config.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "model/architectures.h"

namespace kvasir {
namespace {

// No dimension of a real model comes near it, and products of two stay far
// from overflow.
constexpr int64_t kLargestDimension = int64_t{1} << 24;

// Numbers that a file may hold, whatever its architecture.
struct Scale {
  std::string_view name;
  float ModelConfig::*place;
};
constexpr Scale kScales[] = {
    {"attention.scale", &ModelConfig::attention_scale},
    {"attn_logit_softcapping", &ModelConfig::attention_soft_cap},
    {"final_logit_softcapping", &ModelConfig::logit_soft_cap},
    {"embedding_scale", &ModelConfig::embedding_scale},
    {"residual_scale", &ModelConfig::residual_scale},
    {"logit_scale", &ModelConfig::logit_divisor},
};

// Reads `<architecture>.<name>` keys one after the other and remembers the
// first error, so that a configuration reads as a list.
class ConfigReader {
 public:
  ConfigReader(const Metadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(std::string(architecture) + ".") {}

  const Status& status() const { return status_; }

  bool Has(std::string_view name) const { return metadata_.Has(prefix_ + std::string(name)); }

  // A dimension in [1, kLargestDimension].
  int64_t Dimension(std::string_view name) {
    return CheckDimension(name, metadata_.Int(prefix_ + std::string(name)));
  }

  int64_t DimensionOr(std::string_view name, int64_t fallback) {
    return Has(name) ? Dimension(name) : fallback;
  }

  // A finite number above zero.
  double Positive(std::string_view name, double fallback) {
    const Result<double> value = metadata_.Float(prefix_ + std::string(name));
    if (!value.ok()) return Fail(value.status(), fallback);
    if (!std::isfinite(*value) || *value <= 0) {
      return Fail(MalformedFile(prefix_ + std::string(name) + " must be a number above 0, is " +
                                std::to_string(*value)),
                  fallback);
    }
    return *value;
  }

  double PositiveOr(std::string_view name, double fallback) {
    return Has(name) ? Positive(name, fallback) : fallback;
  }

  // A dimension, or 0 where the key is missing or says 0: there is none.
  int64_t DimensionOrNone(std::string_view name) {
    const Result<int64_t> value = metadata_.IntOr(prefix_ + std::string(name), 0);
    return value.ok() && *value == 0 ? 0 : CheckDimension(name, value);
  }

  std::string StringOr(std::string_view name, std::string_view fallback) {
    const Result<std::string_view> value =
        metadata_.StringOr(prefix_ + std::string(name), fallback);
    if (!value.ok()) return Fail(value.status(), std::string(fallback));
    return std::string(*value);
  }

  template <class T>
  T Fail(Status status, T fallback) {
    if (status_.ok()) status_ = std::move(status);
    return fallback;
  }

 private:
  int64_t CheckDimension(std::string_view name, const Result<int64_t>& value) {
    if (!value.ok()) return Fail(value.status(), int64_t{1});
    if (*value < 1 || *value > kLargestDimension) {
      return Fail(
          MalformedFile(prefix_ + std::string(name) + " must lie in 1.." +
                        std::to_string(kLargestDimension) + ", is " + std::to_string(*value)),
          int64_t{1});
    }
    return *value;
  }

  const Metadata& metadata_;
  std::string prefix_;
  Status status_;
};

RopeConfig ReadRope(ConfigReader& reader, const Architecture& architecture,
                    const ModelConfig& config) {
  RopeConfig rope;
  rope.dims = reader.DimensionOr("rope.dimension_count", config.head_dim);
  rope.theta = reader.PositiveOr("rope.freq_base", 10000.0);
  // Older files have the factor alone, under either name, and mean linear.
  const bool older_key = !reader.Has("rope.scaling.factor") && reader.Has("rope.scale_linear");
  const bool has_factor = older_key || reader.Has("rope.scaling.factor");
  rope.factor = reader.PositiveOr(older_key ? "rope.scale_linear" : "rope.scaling.factor", 1.0);
  rope.original_context_length =
      reader.DimensionOr("rope.scaling.original_context_length", config.context_length);
  rope.attention_factor = reader.PositiveOr("rope.scaling.attn_factor", 1.0);
  rope.beta_fast = reader.PositiveOr("rope.scaling.yarn_beta_fast", 32.0);
  rope.beta_slow = reader.PositiveOr("rope.scaling.yarn_beta_slow", 1.0);

  const std::string scaling = reader.StringOr("rope.scaling.type", has_factor ? "linear" : "none");
  if (scaling == "linear") {
    rope.scaling = RopeScaling::kLinear;
  } else if (scaling == "yarn") {
    rope.scaling = RopeScaling::kYarn;
  } else if (scaling == "longrope" && (architecture.optional & kRopeFactors) != 0) {
    rope.scaling = RopeScaling::kLong;
  } else if (scaling != "none") {
    reader.Fail(
        UnsupportedModel(
            "RoPE scaling \"" + scaling +
            "\" is not supported; this build has none, linear and yarn, and longrope for phi3"),
        0);
  }
  if (rope.dims % 2 != 0 || rope.dims > config.head_dim) {
    reader.Fail(
        MalformedFile("rope.dimension_count must be even and at most the head dimension " +
                      std::to_string(config.head_dim) + ", is " + std::to_string(rope.dims)),
        0);
  }
  return rope;
}

void ReadScales(ConfigReader& reader, const Architecture& architecture, ModelConfig& config) {
  for (const Scale& scale : kScales) {
    const auto& required = architecture.required_scales;
    const bool must = std::find(required.begin(), required.end(), scale.name) != required.end();
    if (!must && !reader.Has(scale.name)) continue;
    config.*scale.place = static_cast<float>(reader.Positive(scale.name, 1));
  }
  if (architecture.embedding_times_root) {
    config.embedding_scale = std::sqrt(static_cast<float>(config.dim));
  }
  if (config.attention_scale == 0 && config.layers == architecture.layers_with_share_scale) {
    config.attention_scale =
        std::sqrt(static_cast<float>(config.heads) / static_cast<float>(config.dim));
  }
}

void ReadSliding(ConfigReader& reader, const SlidingLayers& sliding, ModelConfig& config) {
  constexpr std::string_view kWindow = "attention.sliding_window";
  const int64_t window =
      sliding.required ? reader.Dimension(kWindow) : reader.DimensionOrNone(kWindow);
  if (window == 0) return;
  if (sliding.period == 1 && window < config.context_length) {
    reader.Fail(UnsupportedModel(config.architecture + "." + std::string(kWindow) +
                                 " is not supported; this build knows no sliding layers in \"" +
                                 config.architecture + "\""),
                0);
  }
  config.sliding_window = window;
  config.sliding_period = reader.DimensionOr("attention.sliding_window_pattern", sliding.period);
  if (sliding.unscaled_rope) {
    const double theta = sliding.rope_theta > 0 ? sliding.rope_theta : config.rope.theta;
    config.sliding_rope = RopeConfig{
        .dims = config.rope.dims,
        .theta = reader.PositiveOr("rope.freq_base_swa", theta),
        .original_context_length = config.rope.original_context_length,
    };
  }
}

void ReadExperts(ConfigReader& reader, const Architecture& architecture, ModelConfig& config) {
  const bool always = (architecture.required & kExperts) != 0;
  const int64_t count =
      always ? reader.Dimension("expert_count") : reader.DimensionOrNone("expert_count");
  if (count == 0) return;
  if (!always && (architecture.optional & kExperts) == 0) {
    reader.Fail(UnsupportedModel("experts (" + config.architecture +
                                 ".expert_count) are not supported in \"" + config.architecture +
                                 "\" by this build"),
                0);
  }
  config.experts = count;
  config.experts_used = reader.Dimension("expert_used_count");
  config.expert_ffn_dim = always ? reader.Dimension("expert_feed_forward_length")
                                 : reader.DimensionOr("expert_feed_forward_length", config.ffn_dim);
  if (config.experts_used > count) {
    reader.Fail(
        MalformedFile(config.architecture + ".expert_used_count (" +
                      std::to_string(config.experts_used) + ") must be at most " +
                      config.architecture + ".expert_count (" + std::to_string(count) + ")"),
        0);
  }
}

Status CheckHeads(const ModelConfig& config, bool has_key_length) {
  if (config.heads % config.kv_heads != 0) {
    return MalformedFile("attention.head_count (" + std::to_string(config.heads) +
                         ") must be a multiple of attention.head_count_kv (" +
                         std::to_string(config.kv_heads) + ")");
  }
  if (!has_key_length && config.dim % config.heads != 0) {
    return MalformedFile("embedding_length (" + std::to_string(config.dim) +
                         ") must be a multiple of attention.head_count (" +
                         std::to_string(config.heads) + ") when attention.key_length is missing");
  }
  return Status();
}

}  // namespace

Result<ModelConfig> ReadModelConfig(const Metadata& metadata) {
  const Result<std::string_view> name = metadata.String("general.architecture");
  if (!name.ok()) return name.status();
  const Architecture* architecture = FindArchitecture(*name);
  if (architecture == nullptr) {
    return UnsupportedModel("architecture \"" + std::string(*name) +
                            "\" is not supported; this build runs " + ListOfArchitectures());
  }

  ConfigReader reader(metadata, architecture->name);
  ModelConfig config;
  config.architecture = architecture->name;
  // No GGUF file says it; what comes from elsewhere is not permuted as GGUF's files are.
  const bool halves = reader.StringOr("rope.pairs", "") == "halves";
  config.rope_pairs = halves ? RopePairs::kHalves : architecture->rope_pairs;
  config.activation = architecture->activation;
  config.rope_period = architecture->rope_period;
  config.context_length = reader.Dimension("context_length");
  config.dim = reader.Dimension("embedding_length");
  config.layers = reader.Dimension("block_count");
  config.ffn_dim = reader.Dimension("feed_forward_length");
  config.heads = reader.Dimension("attention.head_count");
  config.kv_heads = reader.DimensionOr("attention.head_count_kv", config.heads);
  config.head_dim = reader.DimensionOr("attention.key_length", config.dim / config.heads);
  config.rms_norm_eps =
      static_cast<float>(reader.PositiveOr("attention.layer_norm_rms_epsilon", 1e-5));
  const int64_t value_dim = reader.DimensionOr("attention.value_length", config.head_dim);
  ReadExperts(reader, *architecture, config);
  config.rope = ReadRope(reader, *architecture, config);
  ReadScales(reader, *architecture, config);
  ReadSliding(reader, architecture->sliding, config);
  if (!reader.status().ok()) return reader.status();
  if (value_dim != config.head_dim) {
    return UnsupportedModel("attention.value_length differs from the head dimension of the keys");
  }
  if (Status status = CheckHeads(config, reader.Has("attention.key_length")); !status.ok()) {
    return status;
  }
  return config;
}

}  // namespace kvasir
