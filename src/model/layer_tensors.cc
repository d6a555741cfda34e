#include "model/layer_tensors.h"

namespace kvasir {
namespace {

using enum Extent;
using W = LayerWeights;

const LayerTensor kLayerTensors[] = {
    {kNormsBefore, "attn_norm.weight", kOne, kDim, &W::attention_norm},
    {kSplitQkv, "attn_q.weight", kQuery, kDim, &W::q},
    {kSplitQkv, "attn_k.weight", kKeyValue, kDim, &W::k},
    {kSplitQkv, "attn_v.weight", kKeyValue, kDim, &W::v},
    {kQkvBiases, "attn_q.bias", kOne, kQuery, &W::q_bias},
    {kQkvBiases, "attn_k.bias", kOne, kKeyValue, &W::k_bias},
    {kQkvBiases, "attn_v.bias", kOne, kKeyValue, &W::v_bias},
    {kHeadNorms, "attn_q_norm.weight", kOne, kHead, &W::q_norm},
    {kHeadNorms, "attn_k_norm.weight", kOne, kHead, &W::k_norm},
    {kRowNorms, "attn_q_norm.weight", kOne, kQuery, &W::q_norm},
    {kRowNorms, "attn_k_norm.weight", kOne, kKeyValue, &W::k_norm},
    {kAttentionOutput, "attn_output.weight", kDim, kQuery, &W::attention_output},
    {kAttentionOutputBias, "attn_output.bias", kOne, kDim, &W::attention_output_bias},
    {kNormsAfter, "post_attention_norm.weight", kOne, kDim, &W::attention_post_norm},
    {kNormsBefore, "ffn_norm.weight", kOne, kDim, &W::ffn_norm},
    {kSplitFfn, "ffn_gate.weight", kFfn, kDim, &W::gate},
    {kSplitFfn, "ffn_up.weight", kFfn, kDim, &W::up},
    {kSplitFfn, "ffn_down.weight", kDim, kFfn, &W::down},
    {kFfnBiases, "ffn_gate.bias", kOne, kFfn, &W::gate_bias},
    {kFfnBiases, "ffn_up.bias", kOne, kFfn, &W::up_bias},
    {kFfnBiases, "ffn_down.bias", kOne, kDim, &W::down_bias},
    {kNormsAfter, "post_ffw_norm.weight", kOne, kDim, &W::ffn_post_norm},
};

}  // namespace

int64_t SizeOf(Extent extent, const ModelConfig& config) {
  switch (extent) {
    case kOne:
      return 1;
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
  }
  return 0;
}

std::span<const LayerTensor> LayerTensors() { return kLayerTensors; }

}  // namespace kvasir
