#include "kernels/quantize_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/simd.h"

namespace kvasir {
namespace {

constexpr float kLowest = -128.0f, kHighest = 127.0f;

// Lanes past the end of the row are zeros, which the range holds anyway.
RowQuantization ChooseQuantization(const float* in, int64_t n) {
  const FloatTag df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  FloatVector least = hn::Zero(df), largest = hn::Zero(df);
  for (int64_t i = 0; i < n; i += lanes) {
    const FloatVector x = hn::LoadN(df, in + i, static_cast<size_t>(std::min(lanes, n - i)));
    least = hn::Min(least, x);
    largest = hn::Max(largest, x);
  }
  const float mn = hn::ReduceMin(df, least), mx = hn::ReduceMax(df, largest);
  const float scale =
      std::max((mx - mn) / (kHighest - kLowest), std::numeric_limits<float>::epsilon());
  // Both ends give the same zero point but for rounding and for the least
  // scale: the one with the smaller terms is the more exact.
  const float from_least = kLowest - mn / scale, from_largest = kHighest - mx / scale;
  const bool least_is_better = -kLowest - mn / scale < kHighest + mx / scale;
  const float zero_point = std::nearbyint(least_is_better ? from_least : from_largest);
  return {scale, static_cast<int8_t>(std::clamp(zero_point, kLowest, kHighest))};
}

}  // namespace

RowQuantization QuantizeRow(const float* in, int64_t n, int8_t* out) {
  const RowQuantization quantization = ChooseQuantization(in, n);
  const FloatTag df;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<int8_t, FloatTag> d8;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(df));
  const FloatVector scale = hn::Set(df, quantization.scale);
  const auto zero_point = hn::Set(di, int32_t{quantization.zero_point});
  for (int64_t i = 0; i < n; i += lanes) {
    const size_t count = static_cast<size_t>(std::min(lanes, n - i));
    const FloatVector x = hn::LoadN(df, in + i, count);
    const auto q = hn::Add(hn::NearestInt(hn::Div(x, scale)), zero_point);
    hn::StoreN(hn::DemoteTo(d8, q), d8, out + i, count);  // saturates
  }
  return quantization;
}

void DequantizeRow(const int8_t* in, int64_t n, RowQuantization quantization, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(in[i] - quantization.zero_point) * quantization.scale;
  }
}

}  // namespace kvasir
