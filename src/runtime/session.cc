#include "runtime/session.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kvasir {
namespace {

int64_t ChunkRows(const Model& model) {
  return std::min(model.config().context_length, kPrefillChunk);
}

SlidingWindow SlidingOf(const SessionOptions& options, const Model& model) {
  return {.window = options.window, .sink = options.sink, .chunk = ChunkRows(model)};
}

}  // namespace

Result<KvType> ParseKvType(std::string_view name) {
  if (name == "f32") return KvType::kF32;
  if (name == "f16") return KvType::kF16;
  if (name == "i8") return KvType::kI8;
  return InvalidArgument("KV cache type \"" + std::string(name) + "\" must be f32, f16 or i8");
}

Result<std::shared_ptr<Compute>> Compute::Create(const Model& model, int threads) {
  if (!model.has_weights()) {
    return InvalidArgument("the file holds a vocabulary only; it can tokenize but not generate");
  }
  Result<DecoderWorkspace> workspace =
      DecoderWorkspace::Create(model.config(), ChunkRows(model), threads);
  if (!workspace.ok()) return workspace.status();
  return std::make_shared<Compute>(threads, *std::move(workspace));
}

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options,
                                                 std::shared_ptr<Compute> compute) {
  const ModelConfig& config = model->config();
  if (options.context_length < 0 || options.context_length > config.context_length) {
    return InvalidArgument("the context length must lie in 1.." +
                           std::to_string(config.context_length) + ", as the model allows, not " +
                           std::to_string(options.context_length));
  }
  SessionOptions chosen = options;
  if (chosen.context_length == 0) {
    chosen.context_length = std::min(config.context_length, kDefaultContext);
  }
  if (options.window < 0 || options.sink < 0 || (options.window == 0 && options.sink > 0)) {
    return InvalidArgument("a window must have at least one token, and a sink needs a window");
  }
  if (options.window > chosen.context_length ||
      options.sink > chosen.context_length - options.window) {
    return InvalidArgument("a window of " + std::to_string(options.window) + " and a sink of " +
                           std::to_string(options.sink) + " tokens are more than the context of " +
                           std::to_string(chosen.context_length));
  }
  const int64_t capacity = options.window > 0 ? kEndless : chosen.context_length;
  Result<KvCaches> caches = MakeKvCaches(
      config,
      {.type = options.kv_type, .capacity = capacity, .sliding = SlidingOf(options, *model)});
  if (!caches.ok()) return caches.status();
  return std::unique_ptr<Session>(
      new Session(std::move(model), chosen, std::move(compute), capacity, *std::move(caches)));
}

Session::Session(std::shared_ptr<const Model> model, const SessionOptions& options,
                 std::shared_ptr<Compute> compute, int64_t capacity, KvCaches caches)
    : model_(std::move(model)),
      options_(options),
      compute_(std::move(compute)),
      decoder_(model_->config(), model_->weights(), compute_->pool, SlidingOf(options, *model_)),
      capacity_(capacity),
      caches_(std::move(caches)) {}

int64_t Session::kv_cache_bytes() const {
  int64_t bytes = 0;
  for (const std::unique_ptr<KvCache>& cache : caches_) bytes += cache->bytes();
  return bytes;
}

void Session::Clear() {
  for (const std::unique_ptr<KvCache>& cache : caches_) cache->Clear();
  tokens_.clear();
}

Status Session::Truncate(int64_t n) {
  // All caches are in the same state: what one allows they all allow.
  for (const std::unique_ptr<KvCache>& cache : caches_) {
    if (Status status = cache->Truncate(n); !status.ok()) return status;
  }
  tokens_.resize(static_cast<size_t>(n));
  return Status();
}

int64_t Session::KeepPrefixOf(std::span<const int32_t> prompt) {
  if (prompt.empty()) return 0;
  const auto end = prompt.end() - 1;
  const auto [differs, _] = std::mismatch(prompt.begin(), end, tokens_.begin(), tokens_.end());
  const int64_t common = differs - prompt.begin();
  if (Truncate(common).ok()) return common;
  Clear();
  return 0;
}

Result<std::unique_ptr<Session>> Session::Fork() const {
  KvCaches caches;
  for (const std::unique_ptr<KvCache>& cache : caches_) {
    Result<std::unique_ptr<KvCache>> fork = cache->Fork();
    if (!fork.ok()) return fork.status();
    caches.push_back(*std::move(fork));
  }
  std::unique_ptr<Session> session(
      new Session(model_, options_, compute_, capacity_, std::move(caches)));
  session->tokens_ = tokens_;
  return session;
}

Status Session::Append(std::span<const int32_t> tokens, LogitRows rows, std::span<float> logits) {
  Status status = decoder_.Forward(tokens, length(), caches_, compute_->workspace, rows, logits);
  if (status.ok()) tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
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
  const size_t chunk = static_cast<size_t>(compute_->workspace.max_rows());
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const std::span<const int32_t> part =
        tokens.subspan(done, std::min(chunk, tokens.size() - done));
    const std::span<float> rows = std::span(logits).subspan(done * vocab, part.size() * vocab);
    if (Status status = Append(part, LogitRows::kAll, rows); !status.ok()) return status;
  }
  return logits;
}

}  // namespace kvasir
