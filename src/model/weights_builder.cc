#include "model/weights_builder.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "kernels/matrix.h"
#include "model/architectures.h"

namespace kvasir {
namespace {

constexpr std::string_view kTokenEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";
constexpr std::string_view kOutputNorm = "output_norm.weight";
constexpr std::string_view kRopeDivisors = "rope_freqs.weight";
constexpr std::string_view kLongFactors = "rope_factors_long.weight";
constexpr std::string_view kShortFactors = "rope_factors_short.weight";
std::string LayerTensorName(int64_t layer, std::string_view name) {
  return "blk." + std::to_string(layer) + "." + std::string(name);
}

struct LayerTarget {
  int64_t layer;
  const LayerTensor* tensor;
  int64_t expert = -1;  // whose part of the tensor it is; -1: all of it
};

// N where `name` is an expert's part of `tensor`: "ffn_up.N.weight" is one of
// "ffn_up_exps.weight".
std::optional<int64_t> ExpertOf(std::string_view name, const LayerTensor& tensor) {
  constexpr std::string_view kAll = "_exps.weight", kOne = ".weight";
  if (!tensor.name.ends_with(kAll)) return std::nullopt;
  const std::string_view stem = tensor.name.substr(0, tensor.name.size() - kAll.size());
  if (name.size() < stem.size() + kOne.size() || !name.starts_with(stem) || !name.ends_with(kOne)) {
    return std::nullopt;
  }
  name.remove_prefix(stem.size());
  name.remove_suffix(kOne.size());
  if (!name.starts_with('.')) return std::nullopt;
  int64_t expert = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), expert);
  if (error != std::errc() || end != name.data() + name.size() || expert < 0) return std::nullopt;
  return expert;
}

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
    if ((tensor.group & groups) == 0) continue;
    const std::optional<int64_t> expert = ExpertOf(name, tensor);
    if (tensor.name != name && !expert) continue;
    target.tensor = &tensor;
    target.expert = expert.value_or(-1);
    return target;
  }
  return std::nullopt;
}

Status CheckShape(const TensorInfo& info, int64_t rows, int64_t cols, int64_t experts = 1) {
  if (info.shape[0] == cols && info.shape[1] == rows && info.shape[2] == experts &&
      info.shape[3] == 1) {
    return Status();
  }
  return MalformedFile("tensor " + info.name + " has the shape [" + std::to_string(info.shape[0]) +
                       ", " + std::to_string(info.shape[1]) + ", " + std::to_string(info.shape[2]) +
                       ", " + std::to_string(info.shape[3]) +
                       "], the model's configuration asks for [" + std::to_string(cols) + ", " +
                       std::to_string(rows) + (experts == 1 ? "" : ", " + std::to_string(experts)) +
                       "]");
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

void AddUse(const TensorInfo& info, TypeUses& uses) {
  TypeUse& use = uses[info.type];
  use.tensors += 1;
  use.elements += info.elements();
  use.bytes += static_cast<int64_t>(info.bytes);
}

WeightsBuilder::WeightsBuilder(ModelConfig config) : config_(std::move(config)) {
  const Architecture& architecture = *FindArchitecture(config_.architecture);
  required_ = architecture.required;
  optional_ = architecture.optional & ~kExperts;
  if (config_.experts > 0) {
    required_ = (required_ & ~kSplitFfn) | kExperts;
    optional_ &= ~kFfnBiases;
  }
}

// [rows, cols] that a tensor outside the layers must have; empty for one that the
// model does not have.
std::optional<std::pair<int64_t, int64_t>> WeightsBuilder::OuterShape(
    const TensorInfo& info) const {
  const bool any_vocab = info.name == kTokenEmbedding || config_.vocab_size == 0;
  const int64_t vocab = any_vocab ? info.shape[1] : config_.vocab_size;
  if (info.name == kTokenEmbedding || info.name == kOutput) return std::pair(vocab, config_.dim);
  if (info.name == kOutputNorm) return std::pair(int64_t{1}, config_.dim);
  const bool factors = info.name == kLongFactors || info.name == kShortFactors;
  if (info.name == kRopeDivisors || (factors && (optional_ & kRopeFactors) != 0)) {
    return std::pair(int64_t{1}, config_.rope.dims / 2);
  }
  return std::nullopt;
}

Result<std::span<uint8_t>> WeightsBuilder::Begin(const TensorInfo& info) {
  if (const auto target = FindLayerTarget(info.name, required_ | optional_); target.has_value()) {
    if (target->layer >= config_.layers) {
      return MalformedFile("tensor " + info.name + " is beyond the " +
                           std::to_string(config_.layers) + " layers of the model");
    }
    const auto [all_experts, rows, cols] = ShapeOf(*target->tensor, config_);
    if (target->expert >= all_experts) {
      return MalformedFile("tensor " + info.name + " is beyond the " + std::to_string(all_experts) +
                           " experts of the model");
    }
    const int64_t experts = target->expert < 0 ? all_experts : 1;
    if (Status shape = CheckShape(info, rows, cols, experts); !shape.ok()) return shape;
    const auto* parts = std::get_if<LayerMatrices>(&target->tensor->place);
    const bool joined = parts != nullptr && (*parts)[1].place != nullptr;
    const bool of_experts =
        target->expert < 0 && std::holds_alternative<LayerExperts>(target->tensor->place);
    return Begin(info, experts * rows, joined || of_experts);
  }
  const auto size = OuterShape(info);
  if (!size.has_value()) {
    return UnsupportedModel("tensor " + info.name + " is not part of the architecture \"" +
                            config_.architecture +
                            "\" as this build knows it; running without it would be wrong");
  }
  if (Status shape = CheckShape(info, size->first, size->second); !shape.ok()) return shape;
  if (info.name == kTokenEmbedding) config_.vocab_size = info.shape[1];
  return Begin(info, info.shape[1], false);
}

Result<std::span<uint8_t>> WeightsBuilder::Begin(const TensorInfo& info, int64_t rows,
                                                 bool divided) {
  if (divided) {
    const Result<int64_t> bytes = MatrixFileBytes(info.type, rows, info.shape[0]);
    if (!bytes.ok()) return InTensor(info, bytes.status());
    Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
    if (!memory.ok()) return InTensor(info, memory.status());
    undivided_ = *std::move(memory);
    return undivided_.bytes();
  }
  Result<WeightMatrixBuilder> matrix = WeightMatrixBuilder::Create(info.type, rows, info.shape[0]);
  if (!matrix.ok()) return InTensor(info, matrix.status());
  current_ = *std::move(matrix);
  return current_.raw();
}

Status WeightsBuilder::End(const TensorInfo& info) {
  AddUse(info, type_use_);
  seen_.insert(info.name);
  if (const auto target = FindLayerTarget(info.name, required_ | optional_); target.has_value()) {
    return EndOfLayer(info, *target->tensor, target->expert, layers_[target->layer]);
  }
  Result<WeightMatrix> matrix = FinishCurrent(info);
  if (!matrix.ok()) return matrix.status();
  if (info.name == kTokenEmbedding) {
    weights_.token_embedding = *std::move(matrix);
  } else if (info.name == kOutput) {
    weights_.output = *std::move(matrix);
  } else if (info.name == kOutputNorm) {
    weights_.output_norm = ToFloats(*matrix);
  } else {
    rope_divisors_[info.name] = ToFloats(*matrix);
  }
  return Status();
}

Result<WeightMatrix> WeightsBuilder::FinishCurrent(const TensorInfo& info) {
  Result<WeightMatrix> matrix = std::exchange(current_, {}).Finish();
  if (!matrix.ok()) return InTensor(info, matrix.status());
  return matrix;
}

Status WeightsBuilder::EndOfLayer(const TensorInfo& info, const LayerTensor& tensor, int64_t expert,
                                  LayerWeights& layer) {
  if (undivided_.size() > 0) return Divide(info, tensor, layer);
  Result<WeightMatrix> matrix = FinishCurrent(info);
  if (!matrix.ok()) return matrix.status();
  if (const auto* vector = std::get_if<LayerVector>(&tensor.place)) {
    layer.** vector = ToFloats(*matrix);
  } else if (const auto* experts = std::get_if<LayerExperts>(&tensor.place)) {
    std::vector<WeightMatrix>& place = layer.*experts->place;
    place.resize(static_cast<size_t>(config_.experts));
    place[static_cast<size_t>(expert)] = *std::move(matrix);
  } else {
    layer.*std::get<LayerMatrices>(tensor.place)[0].place = *std::move(matrix);
  }
  return Status();
}

// Makes a matrix of each run of rows that is one.
Status WeightsBuilder::Divide(const TensorInfo& info, const LayerTensor& tensor,
                              LayerWeights& layer) {
  const AlignedBuffer bytes = std::exchange(undivided_, {});
  const int64_t cols = info.shape[0], row_bytes = RowBytes(info.type, cols);
  const uint8_t* next = bytes.data();
  const auto take = [&](int64_t rows) -> Result<WeightMatrix> {
    Result<WeightMatrixBuilder> builder = WeightMatrixBuilder::Create(info.type, rows, cols);
    if (!builder.ok()) return InTensor(info, builder.status());
    std::memcpy(builder->raw().data(), next, static_cast<size_t>(rows * row_bytes));
    next += rows * row_bytes;
    current_ = *std::move(builder);
    return FinishCurrent(info);
  };
  if (const auto* experts = std::get_if<LayerExperts>(&tensor.place)) {
    std::vector<WeightMatrix>& place = layer.*experts->place;
    place.clear();
    for (int64_t i = 0; i < config_.experts; ++i) {
      Result<WeightMatrix> matrix = take(SizeOf(experts->rows, config_));
      if (!matrix.ok()) return matrix.status();
      place.push_back(*std::move(matrix));
    }
    return Status();
  }
  for (const LayerPart& part : std::get<LayerMatrices>(tensor.place)) {
    if (part.place == nullptr) break;
    Result<WeightMatrix> matrix = take(SizeOf(part.rows, config_));
    if (!matrix.ok()) return matrix.status();
    layer.*part.place = *std::move(matrix);
  }
  return Status();
}

Status WeightsBuilder::CheckComplete() const {
  const auto missing = [](const std::string& name) {
    return MalformedFile("tensor " + name + " is missing");
  };
  const bool long_rope = config_.rope.scaling == RopeScaling::kLong ||
                         seen_.contains(std::string(kLongFactors)) ||
                         seen_.contains(std::string(kShortFactors));
  for (const auto& [name, required] :
       {std::pair(kTokenEmbedding, true), std::pair(kOutputNorm, true),
        std::pair(kLongFactors, long_rope), std::pair(kShortFactors, long_rope)}) {
    if (required && !seen_.contains(std::string(name))) return missing(std::string(name));
  }
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    for (const LayerTensor& tensor : LayerTensors()) {
      if ((tensor.group & required_) == 0) continue;
      const std::string name = LayerTensorName(layer, tensor.name);
      if (seen_.contains(name)) continue;
      const auto* experts = std::get_if<LayerExperts>(&tensor.place);
      const auto came = layers_.find(layer);
      if (experts == nullptr || came == layers_.end()) return missing(name);
      const std::vector<WeightMatrix>& parts = came->second.*experts->place;
      const bool whole = std::none_of(parts.begin(), parts.end(),
                                      [](const WeightMatrix& part) { return part.empty(); });
      if (parts.empty() || !whole) return missing(name + " of an expert");
    }
  }
  if (!weights_.output.empty() && weights_.output.rows() != config_.vocab_size) {
    return MalformedFile("tensor " + std::string(kOutput) + " has " +
                         std::to_string(weights_.output.rows()) + " rows, the embedding " +
                         std::to_string(config_.vocab_size));
  }
  return CheckRopeDivisors();
}

Status WeightsBuilder::CheckRopeDivisors() const {
  for (const auto& [name, divisors] : rope_divisors_) {
    for (float divisor : divisors) {
      if (!(divisor > 0)) {
        return MalformedFile("tensor " + name + " holds a value that is not above 0");
      }
    }
  }
  return Status();
}

Result<Weights> WeightsBuilder::Finish() {
  if (Status status = CheckComplete(); !status.ok()) return status;
  for (auto& [index, layer] : layers_) weights_.layers.push_back(std::move(layer));
  const bool long_rope = seen_.contains(std::string(kLongFactors));
  const std::string divisors(long_rope ? kShortFactors : kRopeDivisors);
  weights_.rope = MakeRopeFrequencies(config_.rope, rope_divisors_[divisors]);
  if (long_rope) {
    weights_.long_rope =
        MakeRopeFrequencies(config_.rope, rope_divisors_[std::string(kLongFactors)]);
  }
  if (config_.sliding_rope) weights_.sliding_rope = MakeRopeFrequencies(*config_.sliding_rope, {});
  return std::move(weights_);
}

}  // namespace kvasir
