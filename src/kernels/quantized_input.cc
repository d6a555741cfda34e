#include "kernels/quantized_input.h"

#include <cassert>
#include <limits>

#include "base/checked_math.h"
#include "simd/byte_dot.h"

namespace kvasir {
namespace {

constexpr float kLargest = 127.0f;

void QuantizeBlock(const float* x, InputBlock& out, InputWords& words) {
  const F32x4 df;
  const I32x4 di;
  const hn::FixedTag<int8_t, 4> d8;
  const hn::FixedTag<int16_t, 4> d16;
  auto largest = hn::Zero(df);
  for (int64_t j = 0; j < kInputBlock; j += 4) {
    largest = hn::Max(largest, hn::Abs(hn::LoadU(df, x + j)));
  }
  const float scale = hn::ReduceMax(df, largest) / kLargest;
  // Below the normal numbers the reciprocal would be infinite.
  const bool normal = scale >= std::numeric_limits<float>::min();
  const auto factor = hn::Set(df, normal ? 1 / scale : 0.0f);
  const auto half = hn::Set(df, 0.5f);
  auto sum = hn::Zero(di), first_sum = sum;  // of the q at each of four places
  for (int64_t j = 0; j < kInputBlock; j += 4) {
    const auto scaled = hn::Mul(hn::LoadU(df, x + j), factor);
    const auto rounded =
        hn::ConvertTo(di, hn::Add(scaled, hn::CopySign(half, scaled)));  // truncates
    sum = hn::Add(sum, rounded);
    if (j == kInputBlock / 2 - 4) first_sum = sum;
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, out.q + j);
    hn::StoreU(hn::DemoteTo(d16, rounded), d16, words.q + j);
  }
  int32_t places[4], first_places[4];
  hn::StoreU(sum, di, places);
  hn::StoreU(first_sum, di, first_places);
  for (int i = 0; i < 2; ++i) {
    out.negated_pairs[i] = static_cast<int16_t>(-places[2 * i] - places[2 * i + 1]);
    out.negated_first_pairs[i] =
        static_cast<int16_t>(-first_places[2 * i] - first_places[2 * i + 1]);
  }
  out.scale = scale;
  out.negated_sum = scale * static_cast<float>(out.negated_pairs[0] + out.negated_pairs[1]);
}

}  // namespace

Result<QuantizedInput> QuantizedInput::Create(int64_t max_rows, int64_t max_cols) {
  const int64_t blocks = max_cols / kInputBlock;
  const auto count = CheckedMul(max_rows, blocks);
  const auto bytes =
      count ? CheckedMul(*count, int64_t{sizeof(InputBlock) + sizeof(InputWords)}) : count;
  if (max_rows < 1 || !bytes) return InvalidArgument("an input needs room for at least one row");
  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(*bytes));
  if (!memory.ok()) return memory.status();
  QuantizedInput input;
  input.memory_ = *std::move(memory);
  input.max_rows_ = max_rows;
  input.max_blocks_ = blocks;
  input.data_ = input.memory_.as<InputBlock>();
  input.words_ = reinterpret_cast<InputWords*>(input.data_ + *count);
  return input;
}

void QuantizedInput::Set(const float* x, int64_t n, int64_t cols, ThreadPool& pool) {
  values_ = x;
  rows_ = n;
  cols_ = cols;
  blocks_ = cols / kInputBlock;
  assert(n <= max_rows_ && blocks_ <= max_blocks_);
  pool.ParallelFor(n, kPanelRows, [&](int64_t begin, int64_t end, int /*worker*/) {
    for (int64_t i = begin; i < end; ++i) QuantizeRow(i);
  });
}

void QuantizedInput::QuantizeRow(int64_t i) {
  const int64_t first = i / kPanelRows * kPanelRows, stride = Panel(first).rows;
  int64_t at = first * blocks_ + i - first;
  for (int64_t b = 0; b < blocks_; ++b, at += stride) {
    QuantizeBlock(values_ + i * cols_ + b * kInputBlock, data_[at], words_[at]);
  }
}

}  // namespace kvasir
