// Collects a file's tensors into weights, each checked against the
// configuration before memory is set aside for it.
#ifndef KVASIR_MODEL_WEIGHTS_BUILDER_H_
#define KVASIR_MODEL_WEIGHTS_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/tensor_type.h"
#include "format/gguf_reader.h"
#include "model/config.h"
#include "model/layer_tensors.h"
#include "model/weights.h"

namespace kvasir {

// How much of a model a tensor type makes up.
struct TypeUse {
  int64_t tensors = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
};

using TypeUses = std::map<TensorType, TypeUse>;

// Counts a tensor in.
void AddUse(const TensorInfo& info, TypeUses& uses);

class WeightsBuilder {
 public:
  // `config.architecture` is one that FindArchitecture finds.
  explicit WeightsBuilder(ModelConfig config);

  // The memory for a tensor's bytes. MALFORMED_FILE for a wrong shape,
  // UNSUPPORTED_MODEL for a tensor that this architecture does not have: a
  // model run without it would answer wrongly.
  Result<std::span<uint8_t>> Begin(const TensorInfo& info);
  // The bytes of the tensor that began last are all there.
  Status End(const TensorInfo& info);

  // MALFORMED_FILE naming the first required tensor that did not come.
  Result<Weights> Finish();

  // With vocab_size as the embedding has it.
  const ModelConfig& config() const { return config_; }
  const TypeUses& type_use() const { return type_use_; }

 private:
  std::optional<std::pair<int64_t, int64_t>> OuterShape(const TensorInfo& info) const;
  Result<std::span<uint8_t>> Begin(const TensorInfo& info, int64_t rows, bool divided);
  Status EndOfLayer(const TensorInfo& info, const LayerTensor& tensor, int64_t expert,
                    LayerWeights& layer);
  Result<WeightMatrix> FinishCurrent(const TensorInfo& info);
  Status Divide(const TensorInfo& info, const LayerTensor& tensor, LayerWeights& layer);
  Status CheckComplete() const;
  Status CheckRopeDivisors() const;

  ModelConfig config_;
  uint32_t required_, optional_;  // TensorGroups
  Weights weights_;
  std::map<int64_t, LayerWeights> layers_;                   // those that came so far
  std::map<std::string, std::vector<float>> rope_divisors_;  // by the tensor's name
  std::set<std::string> seen_;
  TypeUses type_use_;
  WeightMatrixBuilder current_;  // takes a tensor that is one matrix
  AlignedBuffer undivided_;      // or the bytes of one that is several
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_WEIGHTS_BUILDER_H_
