#include "model/tensor_writer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/convert.h"
#include "kernels/quantize_blocks.h"

namespace kvasir {
namespace {

// Their scale must fit f16, which ends at 65504: for Q4_0 that is an eighth of it.
constexpr float kLargest = 5e5f;

void ToFloats(TensorType type, const uint8_t* raw, int64_t n, float* out) {
  if (type == TensorType::kF32) {
    std::memcpy(out, raw, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  const auto* halves = reinterpret_cast<const uint16_t*>(raw);  // of a vector: aligned
  type == TensorType::kF16 ? F16ToF32(halves, n, out) : BF16ToF32(halves, n, out);
}

}  // namespace

TensorWriter::TensorWriter(TensorType from, TensorType to, float offset, std::span<uint8_t> out)
    : from_(from), to_(to), offset_(offset), out_(out) {
  assert(from == to || to == TensorType::kF32 || CanQuantizeTo(to));
  assert(offset == 0 || to == TensorType::kF32);
}

Status TensorWriter::Append(std::span<const uint8_t> bytes) {
  if (from_ == to_ && offset_ == 0) {
    std::memcpy(out_.data(), bytes.data(), bytes.size());
    out_ = out_.subspan(bytes.size());
    return Status();
  }
  const int64_t element = FindTensorTypeTraits(from_)->block_bytes;
  while (!bytes.empty()) {
    // What is left of the output tells how much is still to come.
    const TensorTypeTraits to = *FindTensorTypeTraits(to_);
    const int64_t left = static_cast<int64_t>(out_.size()) / to.block_bytes * to.block_elements;
    const size_t wanted = static_cast<size_t>(std::min(left, kChunk) * element);
    const size_t count = std::min(wanted - raw_.size(), bytes.size());
    raw_.insert(raw_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (raw_.size() < wanted) return Status();
    if (Status status = Flush(); !status.ok()) return status;
  }
  return Status();
}

Status TensorWriter::Flush() {
  std::array<float, kChunk> values;
  const int64_t n = static_cast<int64_t>(raw_.size()) / FindTensorTypeTraits(from_)->block_bytes;
  ToFloats(from_, raw_.data(), n, values.data());
  raw_.clear();
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] += offset_;
  const size_t bytes = static_cast<size_t>(RowBytes(to_, n));
  if (to_ == TensorType::kF32) {
    std::memcpy(out_.data(), values.data(), bytes);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      if (!(std::abs(values[static_cast<size_t>(i)]) <= kLargest)) {
        return MalformedFile("it holds " + std::to_string(values[static_cast<size_t>(i)]) +
                             ", which cannot be quantized; load it without quantizing");
      }
    }
    QuantizeBlocks(to_, values.data(), n, out_.data());
  }
  out_ = out_.subspan(bytes);
  return Status();
}

}  // namespace kvasir
