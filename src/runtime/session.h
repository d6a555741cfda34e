// The state of one conversation with a model: caches and position.
#ifndef KVASIR_RUNTIME_SESSION_H_
#define KVASIR_RUNTIME_SESSION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "model/decoder.h"
#include "runtime/model.h"

namespace kvasir {

struct SessionOptions {
  int64_t context_length = 0;  // tokens that fit; 0: the model's own, at most kDefaultContext
  KvType kv_type = KvType::kF16;
};

inline constexpr int64_t kDefaultContext = 4096;

// Prompt tokens that run through the layers together.
inline constexpr int64_t kPrefillChunk = 128;

// "f32" or "f16"; INVALID_ARGUMENT for anything else.
Result<KvType> ParseKvType(std::string_view name);

class Session {
 public:
  // INVALID_ARGUMENT for a model without weights or a bad context length,
  // OUT_OF_MEMORY when the caches do not fit.
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options,
                                                 std::shared_ptr<ThreadPool> pool);

  const Model& model() const { return *model_; }
  int64_t capacity() const { return capacity_; }
  // Tokens whose keys and values are cached.
  int64_t length() const { return length_; }
  int64_t kv_cache_bytes() const;
  const KvCaches& caches() const { return caches_; }

  void Clear();

  // Appends at most kPrefillChunk tokens. Logits of the rows asked for, see
  // Decoder::Forward; on an error the session is as before.
  Status Append(std::span<const int32_t> tokens, LogitRows rows, std::span<float> logits);

  // Logits of every row of `tokens`, run from an empty session, [tokens, vocab].
  Result<std::vector<float>> Logits(std::span<const int32_t> tokens);

 private:
  Session(std::shared_ptr<const Model> model, std::shared_ptr<ThreadPool> pool, int64_t capacity,
          KvCaches caches, DecoderWorkspace workspace);

  std::shared_ptr<const Model> model_;
  std::shared_ptr<ThreadPool> pool_;
  Decoder decoder_;
  int64_t capacity_;
  int64_t length_ = 0;
  KvCaches caches_;
  DecoderWorkspace workspace_;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_SESSION_H_
