// The state of one conversation with a model: its tokens and their caches.
#ifndef KVASIR_RUNTIME_SESSION_H_
#define KVASIR_RUNTIME_SESSION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "model/decoder.h"
#include "runtime/model.h"

namespace kvasir {

inline constexpr int64_t kDefaultContext = 4096;

// Prompt tokens that run through the layers together.
inline constexpr int64_t kPrefillChunk = 128;

// The length of a session that forgets: positions have no end that matters.
inline constexpr int64_t kEndless = (int64_t{1} << 31) - 1;

// "f32", "f16" or "i8"; INVALID_ARGUMENT for anything else.
Result<KvType> ParseKvType(std::string_view name);

std::string_view KvTypeName(KvType type);

// What a token takes in the KV caches of all layers.
int64_t KvCacheBytesPerToken(const ModelConfig& config, KvType type);

struct SessionOptions {
  int64_t context_length = 0;  // tokens that fit; 0: the model's own, at most kDefaultContext
  KvType kv_type = KvType::kF16;
  // > 0: a token sees the last `window` tokens and the first `sink` ones only,
  // and the session never fills up. Together at most the context length.
  int64_t window = 0;
  int64_t sink = 0;
};

// Threads and scratch memory. Sessions that take turns share them.
struct Compute {
  static Result<std::shared_ptr<Compute>> Create(const Model& model, int threads);

  Compute(int threads, DecoderWorkspace scratch) : pool(threads), workspace(std::move(scratch)) {}

  ThreadPool pool;
  DecoderWorkspace workspace;
};

class Session {
 public:
  // INVALID_ARGUMENT for a bad context length, window or sink, OUT_OF_MEMORY
  // when the caches do not fit.
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options,
                                                 std::shared_ptr<Compute> compute);

  // The session that Save wrote. MALFORMED_FILE for bytes that are damaged or
  // something else, INVALID_ARGUMENT for a session with another model.
  static Result<std::unique_ptr<Session>> Restore(std::shared_ptr<const Model> model,
                                                  std::span<const uint8_t> saved,
                                                  std::shared_ptr<Compute> compute);

  const Model& model() const { return *model_; }
  const SessionOptions& options() const { return options_; }
  // Tokens that fit; kEndless with a window.
  int64_t capacity() const { return capacity_; }
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  // The tokens so far. Their keys and values are cached, but for those that a
  // window has passed.
  std::span<const int32_t> tokens() const { return tokens_; }
  int64_t kv_cache_bytes() const;
  const KvCaches& caches() const { return caches_; }

  void Clear();

  // Keeps the first n tokens. INVALID_ARGUMENT when n is out of range, or when
  // the window has forgotten what token n would look back at.
  Status Truncate(int64_t n);

  // Keeps what the session has in common with `prompt`, which is to be run, as
  // far as the caches allow; returns the number of tokens kept. At least the
  // prompt's last token is left to run.
  int64_t KeepPrefixOf(std::span<const int32_t> prompt);

  // A session with the same tokens that goes its own way. OUT_OF_MEMORY.
  Result<std::unique_ptr<Session>> Fork() const;

  // Everything that Restore needs but the model. OUT_OF_MEMORY.
  Result<AlignedBuffer> Save() const;

  // Tokens that one Append takes at most.
  int64_t prefill_chunk() const { return compute_->workspace.max_rows(); }

  // Appends at most prefill_chunk() tokens. Logits of the rows asked for, see
  // Decoder::Forward; on an error the session is as before.
  Status Append(std::span<const int32_t> tokens, LogitRows rows, std::span<float> logits);

  // Logits of every row of `tokens`, run from an empty session, [tokens, vocab].
  Result<std::vector<float>> Logits(std::span<const int32_t> tokens);

  // The natural logarithm of the probability of tokens[i + 1] after tokens
  // [0, i], run from an empty session, for i in [0, tokens.size() - 1).
  Result<std::vector<float>> LogProbabilities(std::span<const int32_t> tokens);

 private:
  // Runs `tokens` from an empty session and calls visit(first, rows) with the
  // logits of tokens [first, first + rows), [rows, vocab], `chunk` rows at a time.
  template <class Visit>
  Status RunAll(std::span<const int32_t> tokens, size_t chunk, Visit visit);

  Session(std::shared_ptr<const Model> model, const SessionOptions& options,
          std::shared_ptr<Compute> compute, int64_t capacity, KvCaches caches);

  std::shared_ptr<const Model> model_;
  SessionOptions options_;  // with the context length that was chosen
  std::shared_ptr<Compute> compute_;
  Decoder decoder_;
  int64_t capacity_;
  std::vector<int32_t> tokens_;
  KvCaches caches_;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_SESSION_H_
