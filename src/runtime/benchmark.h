// How fast a session is, on tokens that mean nothing.
#ifndef KVASIR_RUNTIME_BENCHMARK_H_
#define KVASIR_RUNTIME_BENCHMARK_H_

#include <cstdint>

#include "base/status.h"
#include "runtime/session.h"

namespace kvasir {

enum class BenchmarkTest {
  kPrefill,  // the tokens of a prompt, in chunks, with the logits of the last
  kDecode,   // one token after the other, with the logits of each
};

// Seconds that `tokens` tokens take when `depth` come before them. The session
// then holds the `depth`; what it held before is gone, but for tokens of a
// benchmark. INVALID_ARGUMENT for tokens < 1 or depth < 0, CONTEXT_OVERFLOW when
// they do not fit.
Result<double> MeasureSeconds(Session& session, BenchmarkTest test, int64_t tokens, int64_t depth);

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_BENCHMARK_H_
