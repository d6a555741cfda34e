#include "model/decoder.h"

#include <algorithm>
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

// Whether the window has moved away from the sink, so that the two are not met by
// the same query any more.
bool SinkIsFar(const SlidingWindow& seen, int64_t start, int64_t seq) {
  return seen.sink > 0 && start + seq > seen.sink + seen.window;
}

// Fewer rows than this are not worth waking a thread for, where they are not
// multiplied with a matrix.
constexpr int64_t kRowsPerThread = 8;

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
  const int64_t dim = config.dim, q = config.q_dim(), kv = config.kv_dim();
  const int64_t ffn = config.experts > 0 ? config.expert_ffn_dim : config.ffn_dim;
  const int64_t gathered = config.experts > 0 ? dim : 0;
  const std::optional<int64_t> floats =
      CheckedMul(max_rows, 3 * dim + 3 * q + 2 * kv + 2 * ffn + gathered + config.experts);
  const std::optional<int64_t> bytes =
      floats ? CheckedMul(*floats, int64_t{sizeof(float)}) : floats;
  if (max_rows < 1 || !bytes) return InvalidArgument("a chunk must hold at least one token");

  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  Result<SdpaScratch> scratch = SdpaScratch::Create(threads, config.heads, config.head_dim);
  if (!scratch.ok()) return scratch.status();

  Result<QuantizedInput> input = QuantizedInput::Create(max_rows, std::max({dim, q, ffn}));
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
  workspace.gathered_ = take(gathered);
  workspace.routes_ = take(config.experts);
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
  ComputeAngles(RopeFor(caches), start, seq, workspace.angles_);
  if (config_.sliding_rope) {
    ComputeAngles(weights_.sliding_rope, start, seq, workspace.sliding_angles_);
  }
  for (int64_t i = 0; i < config_.layers; ++i) {
    KvCache& cache = *caches[static_cast<size_t>(i)];
    if (Status status = SelfAttention(i, start, seq, cache, workspace); !status.ok()) {
      return status;
    }
    const LayerWeights& layer = weights_.layers[static_cast<size_t>(i)];
    if (config_.experts > 0) {
      MixExperts(layer, seq, workspace);
    } else {
      FeedForward(layer, seq, workspace);
    }
  }
  if (rows == LogitRows::kNone) return Status();

  const int64_t first = rows == LogitRows::kLast ? seq - 1 : 0;
  RmsNorm(workspace.hidden_ + first * config_.dim, weights_.output_norm.data(),
          config_.rms_norm_eps, seq - first, config_.dim, workspace.normed_);
  workspace.input_.Set(workspace.normed_, seq - first, config_.dim, pool_);
  MatMul({{&weights_.output_head(), nullptr, logits.data()}}, workspace.input_, pool_);
  FinishLogits((seq - first) * config_.vocab_size, logits.data());
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

void Decoder::Embed(std::span<const int32_t> tokens, DecoderWorkspace& workspace) const {
  float* row = workspace.hidden_;
  for (int32_t token : tokens) {
    weights_.token_embedding.DequantizeRow(token, row);
    row += config_.dim;
  }
  if (config_.embedding_scale != 1) {
    ScaleInPlace(workspace.hidden_, config_.embedding_scale, row - workspace.hidden_);
  }
}

void Decoder::ComputeAngles(const RopeFrequencies& rope, int64_t start, int64_t seq,
                            PositionAngles& angles) const {
  angles.own.Compute(rope.inv_freq, rope.magnitude, start, seq);
  if (SinkIsFar(sliding_, start, seq)) {
    angles.sink.Compute(rope.inv_freq, rope.magnitude, start, seq,
                        sliding_.sink + sliding_.window - 1);
  }
}

// LongRoPE has other speeds where distances may go beyond the original context.
const RopeFrequencies& Decoder::RopeFor(const KvCaches& caches) const {
  const int64_t reach =
      sliding_.window > 0 ? sliding_.window + sliding_.sink : caches.front()->capacity();
  const bool beyond = reach > config_.rope.original_context_length;
  return beyond && !weights_.long_rope.inv_freq.empty() ? weights_.long_rope : weights_.rope;
}

// What a layer's queries see: a sliding layer's no more than its own window of
// what the caches hold, and the sink only where that lies within.
SlidingWindow Decoder::WindowOf(int64_t layer) const {
  SlidingWindow seen = sliding_;
  if (!config_.Slides(layer)) return seen;
  const int64_t own = config_.sliding_window;
  if (seen.window == 0) {
    seen.window = own;
  } else if (seen.window + seen.sink > own) {
    seen.window = std::min(seen.window, own);
    seen.sink = 0;
  }
  return seen;
}

Status Decoder::SelfAttention(int64_t index, int64_t start, int64_t seq, KvCache& cache,
                              DecoderWorkspace& workspace) const {
  const LayerWeights& layer = weights_.layers[static_cast<size_t>(index)];
  DecoderWorkspace& w = workspace;
  SetInput(layer.attention_norm, seq, w);
  MatMul({{&layer.q, DataOrNull(layer.q_bias), w.q_},
          {&layer.k, DataOrNull(layer.k_bias), w.k_},
          {&layer.v, DataOrNull(layer.v_bias), w.v_}},
         w.input_, pool_);
  NormInPlace(layer.q_norm, seq * config_.q_dim(), w.q_);
  NormInPlace(layer.k_norm, seq * config_.kv_dim(), w.k_);

  const View4<float> q = HeadsOfRows(w.q_, config_.heads, seq, config_.head_dim);
  const View4<float> k = HeadsOfRows(w.k_, config_.kv_heads, seq, config_.head_dim);
  const View4<float> v = HeadsOfRows(w.v_, config_.kv_heads, seq, config_.head_dim);
  const View4<float> sink_q = HeadsOfRows(w.sink_q_, config_.heads, seq, config_.head_dim);
  const View4<const float> turned = sink_q;
  const SlidingWindow seen = WindowOf(index);
  SdpaOptions options;
  options.scale = config_.scale();
  options.soft_cap = config_.attention_soft_cap;
  if (config_.Rotates(index)) {
    const bool own_angles = config_.sliding_rope && config_.Slides(index);
    const PositionAngles& angles = own_angles ? w.sliding_angles_ : w.angles_;
    if (SinkIsFar(seen, start, seq)) {
      std::copy_n(w.q_, seq * config_.q_dim(), w.sink_q_);
      ApplyRope(sink_q, angles.sink, config_.rope_pairs);
      options.sink_query = &turned;
    }
    ApplyRope(q, angles.own, config_.rope_pairs);
    ApplyRope(k, angles.own, config_.rope_pairs);
  }
  if (Status status = cache.Update(start, k, v); !status.ok()) return status;

  MaskRule mask;
  mask.causal = true;
  mask.start = start;
  mask.window = seen.window;
  mask.sink = seen.sink;
  const View4<float> attended = HeadsOfRows(w.attended_, config_.heads, seq, config_.head_dim);
  const Result<int64_t> blind =
      Sdpa(q, cache.Runs(), mask, options, attended, pool_, w.sdpa_scratch_);
  if (!blind.ok()) return blind.status();

  w.input_.Set(w.attended_, seq, config_.q_dim(), pool_);
  MatMul({{&layer.attention_output, DataOrNull(layer.attention_output_bias), w.projected_}},
         w.input_, pool_);
  AddToHidden(layer.attention_post_norm, seq, w);
  return Status();
}

void Decoder::FeedForward(const LayerWeights& layer, int64_t seq,
                          DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  SetInput(layer.ffn_norm, seq, w);
  MatMul({{&layer.gate, DataOrNull(layer.gate_bias), w.gate_},
          {&layer.up, DataOrNull(layer.up_bias), w.up_}},
         w.input_, pool_);
  Activate(seq, config_.ffn_dim, w);
  w.input_.Set(w.gate_, seq, config_.ffn_dim, pool_);
  MatMul({{&layer.down, DataOrNull(layer.down_bias), w.projected_}}, w.input_, pool_);
  AddToHidden(layer.ffn_post_norm, seq, w);
}

// The rows that chose an expert run through it together. They are added up in the
// order of the experts, so that a row's sum does not depend on the others.
void Decoder::MixExperts(const LayerWeights& layer, int64_t seq,
                         DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  const int64_t dim = config_.dim, ffn = config_.expert_ffn_dim;
  SetInput(layer.ffn_norm, seq, w);
  const float* x = w.input_.values();
  MatMul({{&layer.router, nullptr, w.routes_}}, w.input_, pool_);
  w.routing_.Choose(w.routes_, seq, config_.experts, config_.experts_used);
  std::fill_n(w.projected_, seq * dim, 0.0f);
  for (int64_t e = 0; e < config_.experts; ++e) {
    const std::span<const RoutedRow> routed = w.routing_.RowsOf(e);
    if (routed.empty()) continue;
    const size_t expert = static_cast<size_t>(e);
    const int64_t rows = static_cast<int64_t>(routed.size());
    float* next = w.gathered_;
    for (const RoutedRow& from : routed) next = std::copy_n(x + from.row * dim, dim, next);
    w.input_.Set(w.gathered_, rows, dim, pool_);
    MatMul({{&layer.expert_gate[expert], nullptr, w.gate_},
            {&layer.expert_up[expert], nullptr, w.up_}},
           w.input_, pool_);
    Activate(rows, ffn, w);
    w.input_.Set(w.gate_, rows, ffn, pool_);
    MatMul({{&layer.expert_down[expert], nullptr, w.gathered_}}, w.input_, pool_);
    const float* result = w.gathered_;
    for (const RoutedRow& to : routed) {
      AddScaledInPlace(w.projected_ + to.row * dim, result, to.weight, dim);
      result += dim;
    }
  }
  AddToHidden(layer.ffn_post_norm, seq, w);
}

void Decoder::FinishLogits(int64_t count, float* logits) const {
  if (config_.logit_divisor != 1) ScaleInPlace(logits, 1 / config_.logit_divisor, count);
  if (config_.logit_soft_cap > 0) SoftCapInPlace(logits, config_.logit_soft_cap, count);
}

// gate_ = activation(gate_) * up_, of rows of `width`.
void Decoder::Activate(int64_t rows, int64_t width, DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  pool_.ParallelFor(rows, kRowsPerThread, [&](int64_t begin, int64_t end, int /*worker*/) {
    float* gate = w.gate_ + begin * width;
    const float* up = w.up_ + begin * width;
    const int64_t count = (end - begin) * width;
    if (config_.activation == Activation::kSilu) {
      SwiGlu(gate, up, count);
    } else {
      GeGlu(gate, up, count);
    }
  });
}

// hidden_, normed where the layer does so, as the input of the next products.
void Decoder::SetInput(const std::vector<float>& norm, int64_t seq,
                       DecoderWorkspace& workspace) const {
  DecoderWorkspace& w = workspace;
  if (!norm.empty()) {
    const int64_t dim = config_.dim;
    pool_.ParallelFor(seq, kRowsPerThread, [&](int64_t begin, int64_t end, int /*worker*/) {
      RmsNorm(w.hidden_ + begin * dim, norm.data(), config_.rms_norm_eps, end - begin, dim,
              w.normed_ + begin * dim);
    });
  }
  w.input_.Set(norm.empty() ? w.hidden_ : w.normed_, seq, config_.dim, pool_);
}

// `count` values of x in rows as long as the norm; nothing where there is none.
void Decoder::NormInPlace(const std::vector<float>& norm, int64_t count, float* x) const {
  const int64_t dim = static_cast<int64_t>(norm.size());
  if (dim > 0) RmsNorm(x, norm.data(), config_.rms_norm_eps, count / dim, dim, x);
}

// projected_, normed and scaled where the model does so.
void Decoder::AddToHidden(const std::vector<float>& norm, int64_t seq,
                          DecoderWorkspace& workspace) const {
  const int64_t dim = config_.dim;
  pool_.ParallelFor(seq, kRowsPerThread, [&](int64_t begin, int64_t end, int /*worker*/) {
    float* projected = workspace.projected_ + begin * dim;
    const int64_t count = (end - begin) * dim;
    NormInPlace(norm, count, projected);
    if (config_.residual_scale != 1) ScaleInPlace(projected, config_.residual_scale, count);
    AddInPlace(workspace.hidden_ + begin * dim, projected, count);
  });
}

}  // namespace kvasir
