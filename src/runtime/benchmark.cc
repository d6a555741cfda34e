#include "runtime/benchmark.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace kvasir {
namespace {

// Tokens spread over the vocabulary, so that their embeddings are not cached.
constexpr int64_t kStride = 7919;

std::vector<int32_t> MadeUpTokens(int64_t count, int64_t vocab) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    tokens[static_cast<size_t>(i)] = static_cast<int32_t>(i * kStride % vocab);
  }
  return tokens;
}

Status AppendInChunks(Session& session, std::span<const int32_t> tokens, int64_t chunk,
                      std::span<float> logits) {
  while (!tokens.empty()) {
    const auto next = tokens.first(std::min(static_cast<size_t>(chunk), tokens.size()));
    tokens = tokens.subspan(next.size());
    const LogitRows rows = tokens.empty() || chunk == 1 ? LogitRows::kLast : LogitRows::kNone;
    if (Status status = session.Append(next, rows, logits); !status.ok()) return status;
  }
  return Status();
}

}  // namespace

Result<double> MeasureSeconds(Session& session, BenchmarkTest test, int64_t tokens, int64_t depth) {
  if (tokens < 1 || depth < 0) return InvalidArgument("a benchmark needs at least one token");
  if (tokens > session.capacity() || depth > session.capacity() - tokens) {
    return ContextOverflow(std::to_string(depth) + " and " + std::to_string(tokens) +
                           " tokens do not fit in a context of " +
                           std::to_string(session.capacity()));
  }
  const int64_t vocab = session.model().config().vocab_size;
  const std::vector<int32_t> all = MadeUpTokens(depth + tokens, vocab);
  const std::span<const int32_t> before(all.data(), static_cast<size_t>(depth));
  const std::span<const int32_t> measured(all.data() + depth, static_cast<size_t>(tokens));
  std::vector<float> logits(static_cast<size_t>(vocab));

  const int64_t kept = session.KeepPrefixOf(all);
  if (kept < depth) {
    const auto rest = before.subspan(static_cast<size_t>(kept));
    const Status status = AppendInChunks(session, rest, session.prefill_chunk(), logits);
    if (!status.ok()) return status;
  } else if (Status status = session.Truncate(depth); !status.ok()) {
    return status;
  }

  const auto begin = std::chrono::steady_clock::now();
  const int64_t chunk = test == BenchmarkTest::kPrefill ? session.prefill_chunk() : 1;
  const Status status = AppendInChunks(session, measured, chunk, logits);
  const auto end = std::chrono::steady_clock::now();
  if (!status.ok()) return status;
  if (Status truncated = session.Truncate(depth); !truncated.ok()) return truncated;
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace kvasir
