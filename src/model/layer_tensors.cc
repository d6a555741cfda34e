#include "model/layer_tensors.h"

namespace kvasir {
namespace {

using enum Extent;
using W = LayerWeights;

constexpr LayerTensor Matrix(TensorGroup group, std::string_view name, Extent rows, Extent cols,
                             WeightMatrix LayerWeights::*place) {
  return {group, name, cols, LayerMatrices{LayerPart{rows, place}}};
}

const LayerTensor kLayerTensors[] = {
    {kNormsBefore, "attn_norm.weight", kDim, &W::attention_norm},
    Matrix(kSplitQkv, "attn_q.weight", kQuery, kDim, &W::q),
    Matrix(kSplitQkv, "attn_k.weight", kKeyValue, kDim, &W::k),
    Matrix(kSplitQkv, "attn_v.weight", kKeyValue, kDim, &W::v),
    {kFusedQkv, "attn_qkv.weight", kDim,
     LayerMatrices{{{kQuery, &W::q}, {kKeyValue, &W::k}, {kKeyValue, &W::v}}}},
    {kQkvBiases, "attn_q.bias", kQuery, &W::q_bias},
    {kQkvBiases, "attn_k.bias", kKeyValue, &W::k_bias},
    {kQkvBiases, "attn_v.bias", kKeyValue, &W::v_bias},
    {kHeadNorms, "attn_q_norm.weight", kHead, &W::q_norm},
    {kHeadNorms, "attn_k_norm.weight", kHead, &W::k_norm},
    {kRowNorms, "attn_q_norm.weight", kQuery, &W::q_norm},
    {kRowNorms, "attn_k_norm.weight", kKeyValue, &W::k_norm},
    Matrix(kAttentionOutput, "attn_output.weight", kDim, kQuery, &W::attention_output),
    {kAttentionOutputBias, "attn_output.bias", kDim, &W::attention_output_bias},
    {kNormsAfter, "post_attention_norm.weight", kDim, &W::attention_post_norm},
    {kNormsBefore, "ffn_norm.weight", kDim, &W::ffn_norm},
    Matrix(kSplitFfn, "ffn_gate.weight", kFfn, kDim, &W::gate),
    Matrix(kSplitFfn, "ffn_up.weight", kFfn, kDim, &W::up),
    Matrix(kSplitFfn, "ffn_down.weight", kDim, kFfn, &W::down),
    {kFusedFfn, "ffn_up.weight", kDim, LayerMatrices{{{kFfn, &W::gate}, {kFfn, &W::up}, {}}}},
    Matrix(kFusedFfn, "ffn_down.weight", kDim, kFfn, &W::down),
    {kFfnBiases, "ffn_gate.bias", kFfn, &W::gate_bias},
    {kFfnBiases, "ffn_up.bias", kFfn, &W::up_bias},
    {kFfnBiases, "ffn_down.bias", kDim, &W::down_bias},
    Matrix(kExperts, "ffn_gate_inp.weight", kExpertCount, kDim, &W::router),
    {kExperts, "ffn_gate_exps.weight", kDim, LayerExperts{kExpertFfn, &W::expert_gate}},
    {kExperts, "ffn_up_exps.weight", kDim, LayerExperts{kExpertFfn, &W::expert_up}},
    {kExperts, "ffn_down_exps.weight", kExpertFfn, LayerExperts{kDim, &W::expert_down}},
    {kNormsAfter, "post_ffw_norm.weight", kDim, &W::ffn_post_norm},
};

}  // namespace

int64_t SizeOf(Extent extent, const ModelConfig& config) {
  switch (extent) {
    case kDim:
      return config.dim;
    case kHead:
      return config.head_dim;
    case kQuery:
      return config.q_dim();
    case kKeyValue:
      return config.kv_dim();
    case kFfn:
      return config.ffn_dim;
    case kExpertFfn:
      return config.expert_ffn_dim;
    case kExpertCount:
      return config.experts;
  }
  return 0;
}

std::array<int64_t, 3> ShapeOf(const LayerTensor& tensor, const ModelConfig& config) {
  const int64_t cols = SizeOf(tensor.cols, config);
  if (const auto* experts = std::get_if<LayerExperts>(&tensor.place)) {
    return {config.experts, SizeOf(experts->rows, config), cols};
  }
  const auto* matrices = std::get_if<LayerMatrices>(&tensor.place);
  if (matrices == nullptr) return {1, 1, cols};
  int64_t rows = 0;
  for (const LayerPart& part : *matrices) {
    if (part.place != nullptr) rows += SizeOf(part.rows, config);
  }
  return {1, rows, cols};
}

std::span<const LayerTensor> LayerTensors() { return kLayerTensors; }

}  // namespace kvasir
