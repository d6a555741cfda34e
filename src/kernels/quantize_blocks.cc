#include "kernels/quantize_blocks.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/convert.h"

namespace kvasir {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kScaleBytes = 2;

void PutScale(float scale, uint8_t* out) {
  uint16_t half;
  F32ToF16(&scale, 1, &half);
  std::memcpy(out, &half, sizeof(half));
}

// The element of the largest magnitude.
float Extreme(const float* in) {
  float extreme = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    if (std::abs(in[i]) > std::abs(extreme)) extreme = in[i];
  }
  return extreme;
}

float Inverse(float scale) { return scale == 0 ? 0 : 1 / scale; }

void QuantizeQ8_0(const float* in, uint8_t* out) {
  const float scale = std::abs(Extreme(in)) / 127;
  const float inverse = Inverse(scale);
  PutScale(scale, out);
  for (int64_t i = 0; i < kBlock; ++i) {
    const float q = std::clamp(std::round(in[i] * inverse), -127.0f, 127.0f);
    out[kScaleBytes + i] = static_cast<uint8_t>(static_cast<int8_t>(q));
  }
}

void QuantizeQ4_0(const float* in, uint8_t* out) {
  const float scale = Extreme(in) / -8;
  const float inverse = Inverse(scale);
  PutScale(scale, out);
  const auto nibble = [&](int64_t i) {
    return static_cast<uint8_t>(std::clamp(in[i] * inverse + 8.5f, 0.0f, 15.0f));
  };
  for (int64_t i = 0; i < kBlock / 2; ++i) {
    out[kScaleBytes + i] = static_cast<uint8_t>(nibble(i) | nibble(i + kBlock / 2) << 4);
  }
}

}  // namespace

bool CanQuantizeTo(TensorType type) {
  return type == TensorType::kQ8_0 || type == TensorType::kQ4_0;
}

void QuantizeBlocks(TensorType type, const float* in, int64_t n, uint8_t* out) {
  assert(CanQuantizeTo(type) && n % kBlock == 0);
  const int64_t bytes = RowBytes(type, kBlock);
  for (int64_t i = 0; i < n; i += kBlock, out += bytes) {
    type == TensorType::kQ8_0 ? QuantizeQ8_0(in + i, out) : QuantizeQ4_0(in + i, out);
  }
}

}  // namespace kvasir
