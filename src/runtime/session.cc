#include "runtime/session.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "attention/kv_storage.h"

namespace kvasir {
namespace {

constexpr std::pair<KvType, std::string_view> kKvTypes[] = {
    {KvType::kF32, "f32"}, {KvType::kF16, "f16"}, {KvType::kI8, "i8"}};

// Logits that are held at once to score a text: 16 MB.
constexpr size_t kScoredLogits = size_t{1} << 22;

float LogSumExp(std::span<const float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float logit : logits) total += std::exp(static_cast<double>(logit - largest));
  return largest + static_cast<float>(std::log(total));
}

int64_t ChunkRows(const Model& model) {
  return std::min(model.config().context_length, kPrefillChunk);
}

SlidingWindow SlidingOf(const SessionOptions& options, const Model& model) {
  return {.window = options.window, .sink = options.sink, .chunk = ChunkRows(model)};
}

}  // namespace

Result<KvType> ParseKvType(std::string_view name) {
  for (const auto& [type, known] : kKvTypes) {
    if (known == name) return type;
  }
  return InvalidArgument("KV cache type \"" + std::string(name) + "\" must be f32, f16 or i8");
}

std::string_view KvTypeName(KvType type) {
  const auto* found = std::find_if(std::begin(kKvTypes), std::end(kKvTypes),
                                   [&](const auto& known) { return known.first == type; });
  return found->second;
}

int64_t KvCacheBytesPerToken(const ModelConfig& config, KvType type) {
  return 2 * config.layers * config.kv_heads * KvRowBytes(type, config.head_dim);
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

template <class Visit>
Status Session::RunAll(std::span<const int32_t> tokens, size_t chunk, Visit visit) {
  if (static_cast<int64_t>(tokens.size()) > capacity_) {
    return ContextOverflow(std::to_string(tokens.size()) + " tokens do not fit in a context of " +
                           std::to_string(capacity_));
  }
  Clear();
  std::vector<float> logits(chunk * static_cast<size_t>(model_->config().vocab_size));
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const size_t rows = std::min(chunk, tokens.size() - done);
    const Status status = Append(tokens.subspan(done, rows), LogitRows::kAll, logits);
    if (!status.ok()) return status;
    visit(done, rows, std::span<const float>(logits));
  }
  return Status();
}

Result<std::vector<float>> Session::Logits(std::span<const int32_t> tokens) {
  const size_t vocab = static_cast<size_t>(model_->config().vocab_size);
  std::vector<float> all(tokens.size() * vocab);
  const size_t chunk = static_cast<size_t>(compute_->workspace.max_rows());
  const Status status =
      RunAll(tokens, chunk, [&](size_t first, size_t rows, std::span<const float> logits) {
        std::copy_n(logits.data(), rows * vocab, all.data() + first * vocab);
      });
  if (!status.ok()) return status;
  return all;
}

Result<std::vector<float>> Session::LogProbabilities(std::span<const int32_t> tokens) {
  const size_t vocab = static_cast<size_t>(model_->config().vocab_size);
  const size_t chunk = std::clamp<size_t>(kScoredLogits / vocab, 1,
                                          static_cast<size_t>(compute_->workspace.max_rows()));
  std::vector<float> all(tokens.empty() ? 0 : tokens.size() - 1);
  const Status status =
      RunAll(tokens, chunk, [&](size_t first, size_t rows, std::span<const float> logits) {
        for (size_t i = first; i < first + rows && i < all.size(); ++i) {
          const std::span<const float> row = logits.subspan((i - first) * vocab, vocab);
          all[i] = row[static_cast<size_t>(tokens[i + 1])] - LogSumExp(row);
        }
      });
  if (!status.ok()) return status;
  return all;
}

}  // namespace kvasir
