#include "model/decoder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "kernels/elementwise.h"
#include "kernels/rms_norm.h"
#include "kernels/weight_matmul.h"

namespace kvasir {
namespace {

const float* DataOrNull(const std::vector<float>& values) {
  return values.empty() ? nullptr : values.data();
}

}  // namespace

Result<KvCaches> MakeKvCaches(const ModelConfig& config, const KvCacheOptions& options) {
  const KvCacheShape shape = {config.kv_heads, config.head_dim, options.capacity};
  KvCaches caches;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    Result<std::unique_ptr<KvCache>> cache =
        options.sliding.window > 0 ? MakeSlidingKvCache(options.type, shape, options.sliding)
                                   : MakeFlatKvCache(options.type, shape);
    if (!cache.ok()) return cache.status();
    caches.push_back(*std::move(cache));
  }
  return caches;
}

Result<DecoderWorkspace> DecoderWorkspace::Create(const ModelConfig& config, int64_t max_rows,
                                                  int threads) {
  const int64_t dim = config.dim, q = config.q_dim(), kv = config.kv_dim(), ffn = config.ffn_dim;
  const std::optional<int64_t> floats = CheckedMul(max_rows, 3 * dim + 3 * q + 2 * kv + 2 * ffn);
  const std::optional<int64_t> bytes =
      floats ? CheckedMul(*floats, int64_t{sizeof(float)}) : floats;
  if (max_rows < 1 || !bytes) return InvalidArgument("a chunk must hold at least one token");

  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  Result<SdpaScratch> scratch = SdpaScratch::Create(threads, config.heads, config.head_dim);
  if (!scratch.ok()) return scratch.status();

  Result<QuantizedInput> input =
      QuantizedInput::Create(max_rows, std::max({config.dim, config.q_dim(), config.ffn_dim}));
  if (!input.ok()) return input.status();

  DecoderWorkspace workspace;
  workspace.max_rows_ = max_rows;
  workspace.input_ = *std::move(input);
  workspace.memory_ = *std::move(memory);
  workspace.sdpa_scratch_ = *std::move(scratch);
  float* next = workspace.memory_.as<float>();
  const auto take = [&](int64_t width) { return std::exchange(next, next + max_rows * width); };
  workspace.hidden_ = take(dim);
  workspace.normed_ = take(dim);
  workspace.projected_ = take(dim);
  workspace.q_ = take(q);
  workspace.sink_q_ = take(q);
  workspace.k_ = take(kv);
  workspace.v_ = take(kv);
  workspace.attended_ = take(q);
  workspace.gate_ = take(ffn);
  workspace.up_ = take(ffn);
  return workspace;
}

Status Decoder::Forward(std::span<const int32_t> tokens, int64_t start, KvCaches& caches,
                        DecoderWorkspace& workspace, LogitRows rows,
                        std::span<float> logits) const {
  if (Status status = Check(tokens, start, caches, workspace, rows, logits.size()); !status.ok()) {
    return status;
  }
  const int64_t seq = static_cast<int64_t>(tokens.size());
  Embed(tokens, workspace);
  workspace.rope_angles_.Compute(weights_.rope.inv_freq, weights_.rope.magnitude, start, seq);
  if (SinkIsFar(start, seq)) {
    workspace.sink_angles_.Compute(weights_.rope.inv_freq, weights_.rope.magnitude, start, seq,
                                   sliding_.sink + sliding_.window - 1);
  }
  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    const LayerWeights& layer = weights_.layers[i];
    if (Status status = SelfAttention(layer, start, seq, *caches[i], workspace); !status.ok()) {
      return status;
    }
    FeedForward(layer, seq, workspace);
  }
  if (rows == LogitRows::kNone) return Status();

  const int64_t first = rows == LogitRows::kLast ? seq - 1 : 0;
  RmsNorm(workspace.hidden_ + first * config_.dim, weights_.output_norm.data(),
          config_.rms_norm_eps, seq - first, config_.dim, workspace.normed_);
  workspace.input_.Set(workspace.normed_, seq - first, config_.dim, pool_);
  MatMul({{&weights_.output_head(), nullptr, logits.data()}}, workspace.input_, pool_);
  return Status();
}

Status Decoder::Check(std::span<const int32_t> tokens, int64_t start, const KvCaches& caches,
                      const DecoderWorkspace& workspace, LogitRows rows, size_t logits) const {
  const int64_t seq = static_cast<int64_t>(tokens.size());
  if (seq < 1 || seq > workspace.max_rows()) {
    return InvalidArgument("a chunk has 1.." + std::to_string(workspace.max_rows()) +
                           " tokens, not " + std::to_string(seq));
  }
  for (int32_t token : tokens) {
    if (token < 0 || token >= config_.vocab_size) {
      return InvalidArgument("token " + std::to_string(token) + " is not in the vocabulary of " +
                             std::to_string(config_.vocab_size));
    }
  }
  for (const std::unique_ptr<KvCache>& cache : caches) {
    if (start < 0 || start > cache->length()) {
      return InvalidArgument("position " + std::to_string(start) + " does not follow the " +
                             std::to_string(cache->length()) + " cached tokens");
    }
    if (seq > cache->capacity() - start) {
      return ContextOverflow(std::to_string(start + seq) + " tokens do not fit in a context of " +
                             std::to_string(cache->capacity()));
    }
  }
  const int64_t logit_rows = rows == LogitRows::kAll ? seq : rows == LogitRows::kLast ? 1 : 0;
  if (logits < static_cast<size_t>(logit_rows * config_.vocab_size)) {
    return InvalidArgument("too little room for the logits");
  }
  return Status();
}

// Whether a window has moved away from the sink, so that the two are not met by
// the same query any more.
bool Decoder::SinkIsFar(int64_t start, int64_t seq) const {
  return sliding_.sink > 0 && start + seq > sliding_.sink + sliding_.window;
}

void Decoder::Embed(std::span<const int32_t> tokens, DecoderWorkspace& workspace) const {
  float* row = workspace.hidden_;
  for (int32_t token : tokens) {
    weights_.token_embedding.DequantizeRow(token, row);
    row += config_.dim;
  }
}

Status Decoder::SelfAttention(const LayerWeights& layer, int64_t start, int64_t seq, KvCache& cache,
                              DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  RmsNorm(w.hidden_, layer.attention_norm.data(), config_.rms_norm_eps, seq, config_.dim,
          w.normed_);
  w.input_.Set(w.normed_, seq, config_.dim, pool_);
  MatMul({{&layer.q, DataOrNull(layer.q_bias), w.q_},
          {&layer.k, DataOrNull(layer.k_bias), w.k_},
          {&layer.v, DataOrNull(layer.v_bias), w.v_}},
         w.input_, pool_);

  const View4<float> q = HeadsOfRows(w.q_, config_.heads, seq, config_.head_dim);
  const View4<float> k = HeadsOfRows(w.k_, config_.kv_heads, seq, config_.head_dim);
  const View4<float> v = HeadsOfRows(w.v_, config_.kv_heads, seq, config_.head_dim);
  const View4<float> sink_q = HeadsOfRows(w.sink_q_, config_.heads, seq, config_.head_dim);
  const View4<const float> turned = sink_q;
  SdpaOptions options;
  options.scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim));
  if (SinkIsFar(start, seq)) {
    std::copy_n(w.q_, seq * config_.q_dim(), w.sink_q_);
    ApplyRope(sink_q, w.sink_angles_);
    options.sink_query = &turned;
  }
  ApplyRope(q, w.rope_angles_);
  ApplyRope(k, w.rope_angles_);
  if (Status status = cache.Update(start, k, v); !status.ok()) return status;

  MaskRule mask;
  mask.causal = true;
  mask.start = start;
  mask.window = sliding_.window;
  mask.sink = sliding_.sink;
  const View4<float> attended = HeadsOfRows(w.attended_, config_.heads, seq, config_.head_dim);
  const Result<int64_t> blind =
      Sdpa(q, cache.Runs(), mask, options, attended, pool_, w.sdpa_scratch_);
  if (!blind.ok()) return blind.status();

  w.input_.Set(w.attended_, seq, config_.q_dim(), pool_);
  MatMul({{&layer.attention_output, DataOrNull(layer.attention_output_bias), w.projected_}},
         w.input_, pool_);
  AddInPlace(w.hidden_, w.projected_, seq * config_.dim);
  return Status();
}

void Decoder::FeedForward(const LayerWeights& layer, int64_t seq,
                          DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  RmsNorm(w.hidden_, layer.ffn_norm.data(), config_.rms_norm_eps, seq, config_.dim, w.normed_);
  w.input_.Set(w.normed_, seq, config_.dim, pool_);
  MatMul({{&layer.gate, DataOrNull(layer.gate_bias), w.gate_},
          {&layer.up, DataOrNull(layer.up_bias), w.up_}},
         w.input_, pool_);
  SwiGlu(w.gate_, w.up_, seq * config_.ffn_dim);
  w.input_.Set(w.gate_, seq, config_.ffn_dim, pool_);
  MatMul({{&layer.down, DataOrNull(layer.down_bias), w.projected_}}, w.input_, pool_);
  AddInPlace(w.hidden_, w.projected_, seq * config_.dim);
}

}  // namespace kvasir
