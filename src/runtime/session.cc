#include "runtime/session.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kvasir {

Result<KvType> ParseKvType(std::string_view name) {
  if (name == "f32") return KvType::kF32;
  if (name == "f16") return KvType::kF16;
  return InvalidArgument("KV cache type \"" + std::string(name) + "\" must be f32 or f16");
}

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options,
                                                 std::shared_ptr<ThreadPool> pool) {
  if (!model->has_weights()) {
    return InvalidArgument("the file holds a vocabulary only; it can tokenize but not generate");
  }
  const ModelConfig& config = model->config();
  if (options.context_length < 0 || options.context_length > config.context_length) {
    return InvalidArgument("the context length must lie in 1.." +
                           std::to_string(config.context_length) + ", as the model allows, not " +
                           std::to_string(options.context_length));
  }
  const int64_t capacity = options.context_length > 0
                               ? options.context_length
                               : std::min(config.context_length, kDefaultContext);
  Result<KvCaches> caches = MakeKvCaches(config, options.kv_type, capacity);
  if (!caches.ok()) return caches.status();
  Result<DecoderWorkspace> workspace =
      DecoderWorkspace::Create(config, std::min(capacity, kPrefillChunk), pool->size());
  if (!workspace.ok()) return workspace.status();
  return std::unique_ptr<Session>(new Session(std::move(model), std::move(pool), capacity,
                                              *std::move(caches), *std::move(workspace)));
}

Session::Session(std::shared_ptr<const Model> model, std::shared_ptr<ThreadPool> pool,
                 int64_t capacity, KvCaches caches, DecoderWorkspace workspace)
    : model_(std::move(model)),
      pool_(std::move(pool)),
      decoder_(model_->config(), model_->weights(), *pool_),
      capacity_(capacity),
      caches_(std::move(caches)),
      workspace_(std::move(workspace)) {}

int64_t Session::kv_cache_bytes() const {
  int64_t bytes = 0;
  for (const std::unique_ptr<KvCache>& cache : caches_) bytes += cache->bytes();
  return bytes;
}

void Session::Clear() {
  for (const std::unique_ptr<KvCache>& cache : caches_) cache->Clear();
  length_ = 0;
}

Status Session::Append(std::span<const int32_t> tokens, LogitRows rows, std::span<float> logits) {
  Status status = decoder_.Forward(tokens, length_, caches_, workspace_, rows, logits);
  if (status.ok()) length_ += static_cast<int64_t>(tokens.size());
  return status;
}

Result<std::vector<float>> Session::Logits(std::span<const int32_t> tokens) {
  Clear();
  if (static_cast<int64_t>(tokens.size()) > capacity_) {
    return ContextOverflow(std::to_string(tokens.size()) + " tokens do not fit in a context of " +
                           std::to_string(capacity_));
  }
  const size_t vocab = static_cast<size_t>(model_->config().vocab_size);
  std::vector<float> logits(tokens.size() * vocab);
  const size_t chunk = static_cast<size_t>(workspace_.max_rows());
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const std::span<const int32_t> part =
        tokens.subspan(done, std::min(chunk, tokens.size() - done));
    const std::span<float> rows = std::span(logits).subspan(done * vocab, part.size() * vocab);
    if (Status status = Append(part, LogitRows::kAll, rows); !status.ok()) return status;
  }
  return logits;
}

}  // namespace kvasir
