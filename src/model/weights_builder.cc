#include "model/weights_builder.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "model/layer_tensors.h"

namespace kvasir {
namespace {

// A tensor outside the layers.
struct ModelTensor {
  std::string_view name;
  bool required;
};

constexpr std::string_view kTokenEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";
constexpr std::string_view kOutputNorm = "output_norm.weight";
constexpr std::string_view kRopeDivisors = "rope_freqs.weight";
constexpr ModelTensor kModelTensors[] = {
    {kTokenEmbedding, true},
    {kOutput, false},
    {kOutputNorm, true},
    {kRopeDivisors, false},
};

std::string LayerTensorName(int64_t layer, std::string_view name) {
  return "blk." + std::to_string(layer) + "." + std::string(name);
}

struct LayerTarget {
  int64_t layer;
  const LayerTensor* tensor;
};

// `blk.N.name` with the name of a tensor in `groups`; whether N exists is for the
// caller to check.
std::optional<LayerTarget> FindLayerTarget(std::string_view name, uint32_t groups) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  LayerTarget target{};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), target.layer);
  if (error != std::errc() || target.layer < 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (!name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  for (const LayerTensor& tensor : LayerTensors()) {
    if ((tensor.group & groups) != 0 && tensor.name == name) {
      target.tensor = &tensor;
      return target;
    }
  }
  return std::nullopt;
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

WeightsBuilder::WeightsBuilder(ModelConfig config)
    : config_(std::move(config)), architecture_(*FindArchitecture(config_.architecture)) {}

// [rows, cols] that a tensor outside the layers must have; empty for one that no
// model has.
std::optional<std::pair<int64_t, int64_t>> WeightsBuilder::ShapeOf(const TensorInfo& info) const {
  const bool any_vocab = info.name == kTokenEmbedding || config_.vocab_size == 0;
  const int64_t vocab = any_vocab ? info.shape[1] : config_.vocab_size;
  if (info.name == kTokenEmbedding || info.name == kOutput) return std::pair(vocab, config_.dim);
  if (info.name == kOutputNorm) return std::pair(int64_t{1}, config_.dim);
  if (info.name == kRopeDivisors) return std::pair(int64_t{1}, config_.rope.dims / 2);
  return std::nullopt;
}

Result<std::span<uint8_t>> WeightsBuilder::Begin(const TensorInfo& info) {
  Status shape;
  const uint32_t groups = architecture_.required | architecture_.optional;
  if (const auto target = FindLayerTarget(info.name, groups); target.has_value()) {
    if (target->layer >= config_.layers) {
      return MalformedFile("tensor " + info.name + " is beyond the " +
                           std::to_string(config_.layers) + " layers of the model");
    }
    shape = CheckShape(info, SizeOf(target->tensor->rows, config_),
                       SizeOf(target->tensor->cols, config_));
  } else if (const auto size = ShapeOf(info); size.has_value()) {
    shape = CheckShape(info, size->first, size->second);
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

  const uint32_t groups = architecture_.required | architecture_.optional;
  if (const auto target = FindLayerTarget(info.name, groups); target.has_value()) {
    LayerWeights& layer = layers_[target->layer];
    if (const LayerMatrix* place = std::get_if<LayerMatrix>(&target->tensor->place)) {
      layer.** place = *std::move(matrix);
    } else {
      layer.*std::get<LayerVector>(target->tensor->place) = ToFloats(*matrix);
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
  for (const ModelTensor& tensor : kModelTensors) {
    const std::string name(tensor.name);
    if (tensor.required && !seen_.contains(name)) return missing(name);
  }
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    for (const LayerTensor& tensor : LayerTensors()) {
      if ((tensor.group & architecture_.required) == 0) continue;
      const std::string name = LayerTensorName(layer, tensor.name);
      if (!seen_.contains(name)) return missing(name);
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
  if (config_.sliding_rope) weights_.sliding_rope = MakeRopeFrequencies(*config_.sliding_rope, {});
  return std::move(weights_);
}

}  // namespace kvasir
