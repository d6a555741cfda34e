#include "kernels/quantized_input.h"

#include <cassert>
#include <limits>

#include "base/checked_math.h"

namespace kvasir {
namespace {

constexpr float kLargest = 127.0f;

// Rows that a thread takes at least.
constexpr int64_t kRowGrain = 8;

}  // namespace

Result<QuantizedInput> QuantizedInput::Create(int64_t max_rows, int64_t max_cols) {
  const int64_t blocks = max_cols / kInputBlock;
  constexpr int64_t kBlockBytes =
      kInputBlock * int64_t{sizeof(Element)} + sizeof(float) + 2 * sizeof(int32_t);
  const auto count = CheckedMul(max_rows, blocks);
  const auto bytes = count ? CheckedMul(*count, kBlockBytes) : count;
  if (max_rows < 1 || !bytes) return InvalidArgument("an input needs room for at least one row");
  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  QuantizedInput input;
  input.memory_ = *std::move(memory);
  input.max_rows_ = max_rows;
  input.max_blocks_ = blocks;
  input.elements_ = input.memory_.as<Element>();
  input.scales_ = reinterpret_cast<float*>(input.elements_ + *count * kInputBlock);
  input.sums_ = reinterpret_cast<int32_t*>(input.scales_ + *count);
  return input;
}

void QuantizedInput::Set(const float* x, int64_t n, int64_t cols, ThreadPool& pool) {
  values_ = x;
  rows_ = n;
  cols_ = cols;
  blocks_ = cols / kInputBlock;
  assert(n <= max_rows_ && blocks_ <= max_blocks_);
  pool.ParallelFor(n, kRowGrain, [&](int64_t begin, int64_t end, int /*worker*/) {
    for (int64_t i = begin; i < end; ++i) QuantizeRow(i);
  });
}

void QuantizedInput::QuantizeRow(int64_t i) {
  const F32x4 df;
  const I32x4 di;
  const hn::FixedTag<Element, 4> de;
  for (int64_t b = 0; b < blocks_; ++b) {
    const float* x = values_ + i * cols_ + b * kInputBlock;
    auto largest = hn::Zero(df);
    for (int64_t j = 0; j < kInputBlock; j += 4) {
      largest = hn::Max(largest, hn::Abs(hn::LoadU(df, x + j)));
    }
    const float scale = hn::ReduceMax(df, largest) / kLargest;
    // Below the normal numbers the reciprocal would be infinite.
    const bool normal = scale >= std::numeric_limits<float>::min();
    const auto factor = hn::Set(df, normal ? 1 / scale : 0.0f);
    Element* q = elements_ + (i * blocks_ + b) * kInputBlock;
    int32_t* sums = sums_ + (i * blocks_ + b) * 2;
    for (int64_t half = 0; half < 2; ++half) {
      auto sum = hn::Zero(di);
      for (int64_t j = 16 * half; j < 16 * half + 16; j += 4) {
        const auto scaled = hn::Mul(hn::LoadU(df, x + j), factor);
        const auto rounded = hn::ConvertTo(
            di, hn::Add(scaled, hn::CopySign(hn::Set(df, 0.5f), scaled)));  // truncates
        sum = hn::Add(sum, rounded);
        hn::StoreU(hn::DemoteTo(de, rounded), de, q + j);
      }
      sums[half] = hn::ReduceSum(di, sum);
    }
    scales_[i * blocks_ + b] = scale;
  }
}

}  // namespace kvasir
