#include "model/weights_builder.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace kvasir {
namespace {

enum class Extent { kOne, kDim, kQuery, kKeyValue, kFfn, kVocab, kRopePairs };

int64_t SizeOf(Extent extent, const ModelConfig& config) {
  switch (extent) {
    case Extent::kOne:
      return 1;
    case Extent::kDim:
      return config.dim;
    case Extent::kQuery:
      return config.q_dim();
    case Extent::kKeyValue:
      return config.kv_dim();
    case Extent::kFfn:
      return config.ffn_dim;
    case Extent::kVocab:
      return config.vocab_size;
    case Extent::kRopePairs:
      return config.rope.dims / 2;
  }
  return 0;
}

using LayerMatrix = WeightMatrix LayerWeights::*;
using LayerVector = std::vector<float> LayerWeights::*;

// A tensor of every layer, `blk.N.<name>`: its extents and where it goes.
struct LayerSpec {
  std::string_view name;
  Extent rows;
  Extent cols;
  bool required;
  std::variant<LayerMatrix, LayerVector> place;
};

using enum Extent;
const LayerSpec kLayerSpecs[] = {
    {"attn_norm.weight", kOne, kDim, true, &LayerWeights::attention_norm},
    {"attn_q.weight", kQuery, kDim, true, &LayerWeights::q},
    {"attn_k.weight", kKeyValue, kDim, true, &LayerWeights::k},
    {"attn_v.weight", kKeyValue, kDim, true, &LayerWeights::v},
    {"attn_output.weight", kDim, kQuery, true, &LayerWeights::attention_output},
    {"attn_q.bias", kOne, kQuery, false, &LayerWeights::q_bias},
    {"attn_k.bias", kOne, kKeyValue, false, &LayerWeights::k_bias},
    {"attn_v.bias", kOne, kKeyValue, false, &LayerWeights::v_bias},
    {"attn_output.bias", kOne, kDim, false, &LayerWeights::attention_output_bias},
    {"ffn_norm.weight", kOne, kDim, true, &LayerWeights::ffn_norm},
    {"ffn_gate.weight", kFfn, kDim, true, &LayerWeights::gate},
    {"ffn_up.weight", kFfn, kDim, true, &LayerWeights::up},
    {"ffn_down.weight", kDim, kFfn, true, &LayerWeights::down},
    {"ffn_gate.bias", kOne, kFfn, false, &LayerWeights::gate_bias},
    {"ffn_up.bias", kOne, kFfn, false, &LayerWeights::up_bias},
    {"ffn_down.bias", kOne, kDim, false, &LayerWeights::down_bias},
};

// A tensor outside the layers. kVocab of the embedding is whatever it has.
struct ModelSpec {
  std::string_view name;
  Extent rows;
  Extent cols;
  bool required;
};

constexpr std::string_view kTokenEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";
constexpr std::string_view kOutputNorm = "output_norm.weight";
constexpr std::string_view kRopeDivisors = "rope_freqs.weight";
constexpr ModelSpec kModelSpecs[] = {
    {kTokenEmbedding, kVocab, kDim, true},
    {kOutput, kVocab, kDim, false},
    {kOutputNorm, kOne, kDim, true},
    {kRopeDivisors, kOne, kRopePairs, false},
};

std::string LayerTensorName(int64_t layer, std::string_view name) {
  return "blk." + std::to_string(layer) + "." + std::string(name);
}

struct LayerTarget {
  int64_t layer;
  const LayerSpec* spec;
};

// `blk.N.name` with a known name; whether N exists is for the caller to check.
std::optional<LayerTarget> FindLayerTarget(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  LayerTarget target{};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), target.layer);
  if (error != std::errc() || target.layer < 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (!name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  for (const LayerSpec& spec : kLayerSpecs) {
    if (spec.name == name) {
      target.spec = &spec;
      return target;
    }
  }
  return std::nullopt;
}

const ModelSpec* FindModelSpec(std::string_view name) {
  for (const ModelSpec& spec : kModelSpecs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

Status CheckShape(const TensorInfo& info, int64_t rows, int64_t cols) {
  if (info.shape[0] == cols && info.shape[1] == rows && info.shape[2] == 1 && info.shape[3] == 1) {
    return Status();
  }
  return MalformedFile("tensor " + info.name + " has the shape [" + std::to_string(info.shape[0]) +
                       ", " + std::to_string(info.shape[1]) + ", " + std::to_string(info.shape[2]) +
                       ", " + std::to_string(info.shape[3]) +
                       "], the model's configuration asks for [" + std::to_string(cols) + ", " +
                       std::to_string(rows) + "]");
}

Status InTensor(const TensorInfo& info, const Status& status) {
  return Status(status.code(), "tensor " + info.name + ": " + status.message());
}

std::vector<float> ToFloats(const WeightMatrix& row) {
  std::vector<float> values(static_cast<size_t>(row.cols()));
  row.DequantizeRow(0, values.data());
  return values;
}

}  // namespace

WeightsBuilder::WeightsBuilder(ModelConfig config) : config_(std::move(config)) {}

Result<std::span<uint8_t>> WeightsBuilder::Begin(const TensorInfo& info) {
  Status shape;
  if (const auto target = FindLayerTarget(info.name); target.has_value()) {
    if (target->layer >= config_.layers) {
      return MalformedFile("tensor " + info.name + " is beyond the " +
                           std::to_string(config_.layers) + " layers of the model");
    }
    shape =
        CheckShape(info, SizeOf(target->spec->rows, config_), SizeOf(target->spec->cols, config_));
  } else if (const ModelSpec* spec = FindModelSpec(info.name); spec != nullptr) {
    const bool vocab =
        spec->rows == kVocab && (info.name == kTokenEmbedding || config_.vocab_size == 0);
    shape = CheckShape(info, vocab ? info.shape[1] : SizeOf(spec->rows, config_),
                       SizeOf(spec->cols, config_));
  } else {
    return UnsupportedModel("tensor " + info.name + " is not part of the architecture \"" +
                            config_.architecture +
                            "\" as this build knows it; running without it would be wrong");
  }
  if (!shape.ok()) return shape;
  if (info.name == kTokenEmbedding) config_.vocab_size = info.shape[1];

  Result<WeightMatrixBuilder> matrix =
      WeightMatrixBuilder::Create(info.type, info.shape[1], info.shape[0]);
  if (!matrix.ok()) return InTensor(info, matrix.status());
  current_ = *std::move(matrix);
  return current_.raw();
}

Status WeightsBuilder::End(const TensorInfo& info) {
  Result<WeightMatrix> matrix = std::exchange(current_, {}).Finish();
  if (!matrix.ok()) return InTensor(info, matrix.status());
  TypeUse& use = type_use_[info.type];
  use.tensors += 1;
  use.elements += info.elements();
  use.bytes += static_cast<int64_t>(info.bytes);
  seen_.insert(info.name);

  if (const auto target = FindLayerTarget(info.name); target.has_value()) {
    LayerWeights& layer = layers_[target->layer];
    if (const LayerMatrix* place = std::get_if<LayerMatrix>(&target->spec->place)) {
      layer.** place = *std::move(matrix);
    } else {
      layer.*std::get<LayerVector>(target->spec->place) = ToFloats(*matrix);
    }
  } else if (info.name == kTokenEmbedding) {
    weights_.token_embedding = *std::move(matrix);
  } else if (info.name == kOutput) {
    weights_.output = *std::move(matrix);
  } else if (info.name == kOutputNorm) {
    weights_.output_norm = ToFloats(*matrix);
  } else if (info.name == kRopeDivisors) {
    rope_divisors_ = ToFloats(*matrix);
  }
  return Status();
}

Status WeightsBuilder::CheckComplete() const {
  const auto missing = [](const std::string& name) {
    return MalformedFile("tensor " + name + " is missing");
  };
  for (const ModelSpec& spec : kModelSpecs) {
    const std::string name(spec.name);
    if (spec.required && !seen_.contains(name)) return missing(name);
  }
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    for (const LayerSpec& spec : kLayerSpecs) {
      const std::string name = LayerTensorName(layer, spec.name);
      if (spec.required && !seen_.contains(name)) return missing(name);
    }
  }
  for (float divisor : rope_divisors_) {
    if (!(divisor > 0)) {
      return MalformedFile("tensor " + std::string(kRopeDivisors) +
                           " holds a value that is not above 0");
    }
  }
  if (!weights_.output.empty() && weights_.output.rows() != config_.vocab_size) {
    return MalformedFile("tensor " + std::string(kOutput) + " has " +
                         std::to_string(weights_.output.rows()) + " rows, the embedding " +
                         std::to_string(config_.vocab_size));
  }
  return Status();
}

Result<Weights> WeightsBuilder::Finish() {
  if (Status status = CheckComplete(); !status.ok()) return status;
  for (auto& [index, layer] : layers_) weights_.layers.push_back(std::move(layer));
  weights_.rope = MakeRopeFrequencies(config_.rope, rope_divisors_);
  return std::move(weights_);
}

}  // namespace kvasir
