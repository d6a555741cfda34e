// The forward pass of a decoder-only transformer.
#ifndef KVASIR_MODEL_DECODER_H_
#define KVASIR_MODEL_DECODER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attention/kv_cache.h"
#include "attention/sdpa.h"
#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/quantized_input.h"
#include "kernels/rope.h"
#include "model/config.h"
#include "model/expert_routing.h"
#include "model/weights.h"

namespace kvasir {

// One cache a layer, all of the same length.
using KvCaches = std::vector<std::unique_ptr<KvCache>>;

struct KvCacheOptions {
  KvType type = KvType::kF16;
  int64_t capacity = 0;   // positions
  SlidingWindow sliding;  // window 0: every token sees all before it
};

// OUT_OF_MEMORY when they do not fit, INVALID_ARGUMENT for a bad capacity or window.
Result<KvCaches> MakeKvCaches(const ModelConfig& config, const KvCacheOptions& options);

// The angles of a chunk's positions, and those that its queries have to the keys of
// an attention sink.
struct PositionAngles {
  RopeAngles own;
  RopeAngles sink;
};

// Activations of a chunk of tokens, set aside once: a forward pass allocates
// nothing.
class DecoderWorkspace {
 public:
  // Room for chunks of at most `max_rows` tokens.
  static Result<DecoderWorkspace> Create(const ModelConfig& config, int64_t max_rows, int threads);

  int64_t max_rows() const { return max_rows_; }
  int64_t bytes() const { return static_cast<int64_t>(memory_.size()); }

 private:
  friend class Decoder;
  DecoderWorkspace() = default;

  int64_t max_rows_ = 0;
  AlignedBuffer memory_;
  // Parts of memory_, dense rows of f32; S is the chunk's length.
  float* hidden_ = nullptr;     // [S, dim]
  float* normed_ = nullptr;     // [S, dim]
  float* projected_ = nullptr;  // [S, dim], what a block adds to hidden_
  float* q_ = nullptr;          // [S, q_dim]
  float* sink_q_ = nullptr;     // [S, q_dim], q as the keys of an attention sink meet it
  float* k_ = nullptr;          // [S, kv_dim]
  float* v_ = nullptr;          // [S, kv_dim]
  float* attended_ = nullptr;   // [S, q_dim]
  float* gate_ = nullptr;       // [S, ffn_dim]
  float* up_ = nullptr;         // [S, ffn_dim]
  float* gathered_ = nullptr;   // [S, dim], an expert's rows; with experts only
  float* routes_ = nullptr;     // [S, experts], the router's logits
  ExpertRouting routing_;
  QuantizedInput input_;  // of the products that run next
  PositionAngles angles_;
  PositionAngles sliding_angles_;  // of the sliding layers, where they have their own
  SdpaScratch sdpa_scratch_;
};

enum class LogitRows { kNone, kLast, kAll };

// Reads the weights; owns nothing. Many decoders may share them.
class Decoder {
 public:
  // `sliding`: what the caches were made with. A token sees the last `window`
  // positions and the sink, which for it stands right before the window: no
  // distance is ever larger than sink + window, however long the text. Source:
  // Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023.
  Decoder(const ModelConfig& config, const Weights& weights, ThreadPool& pool,
          const SlidingWindow& sliding = {})
      : config_(config), weights_(weights), pool_(pool), sliding_(sliding) {}

  // Runs `tokens` as positions [start, start + S) through all layers, S in
  // [1, workspace.max_rows()], and stores their keys and values in `caches`,
  // whose length must be at least start. Writes the logits of the rows asked
  // for, [1 or S, vocab_size]. INVALID_ARGUMENT for a token outside the
  // vocabulary or a bad S or start, CONTEXT_OVERFLOW beyond the caches'
  // capacity; then nothing has changed.
  Status Forward(std::span<const int32_t> tokens, int64_t start, KvCaches& caches,
                 DecoderWorkspace& workspace, LogitRows rows, std::span<float> logits) const;

 private:
  Status Check(std::span<const int32_t> tokens, int64_t start, const KvCaches& caches,
               const DecoderWorkspace& workspace, LogitRows rows, size_t logits) const;
  void Embed(std::span<const int32_t> tokens, DecoderWorkspace& workspace) const;
  void ComputeAngles(const RopeFrequencies& rope, int64_t start, int64_t seq,
                     PositionAngles& angles) const;
  const RopeFrequencies& RopeFor(const KvCaches& caches) const;
  SlidingWindow WindowOf(int64_t layer) const;
  Status SelfAttention(int64_t index, int64_t start, int64_t seq, KvCache& cache,
                       DecoderWorkspace& workspace) const;
  void FeedForward(const LayerWeights& layer, int64_t seq, DecoderWorkspace& workspace) const;
  void MixExperts(const LayerWeights& layer, int64_t seq, DecoderWorkspace& workspace) const;
  void FinishLogits(int64_t count, float* logits) const;

  void Activate(int64_t rows, int64_t width, DecoderWorkspace& workspace) const;
  void SetInput(const std::vector<float>& norm, int64_t seq, DecoderWorkspace& workspace) const;
  void NormInPlace(const std::vector<float>& norm, int64_t count, float* x) const;
  void AddToHidden(const std::vector<float>& norm, int64_t seq, DecoderWorkspace& workspace) const;

  const ModelConfig& config_;
  const Weights& weights_;
  ThreadPool& pool_;
  SlidingWindow sliding_;
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_DECODER_H_
