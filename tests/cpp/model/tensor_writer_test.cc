#include "model/tensor_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/block_quantizers.h"
#include "kernels/convert.h"
#include "kernels/quantize_blocks.h"

namespace kvasir {
namespace {

std::vector<float> Values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

Status Write(TensorWriter& writer, const std::vector<float>& values, size_t portion) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const size_t size = values.size() * sizeof(float);
  for (size_t at = 0; at < size; at += portion) {
    const Status status = writer.Append({bytes + at, std::min(portion, size - at)});
    if (!status.ok()) return status;
  }
  return Status();
}

TEST(TensorWriterTest, BlocksDoNotDependOnThePortions) {
  const std::vector<float> values = Values(32 * 107, 1);
  for (TensorType type : {TensorType::kQ8_0, TensorType::kQ4_0}) {
    std::vector<uint8_t> expected(
        static_cast<size_t>(RowBytes(type, static_cast<int64_t>(values.size()))));
    QuantizeBlocks(type, values.data(), static_cast<int64_t>(values.size()), expected.data());
    for (size_t portion : {size_t{1}, size_t{129}, size_t{4096}, size_t{1} << 20}) {
      std::vector<uint8_t> out(expected.size());
      TensorWriter writer(TensorType::kF32, type, 0, out);
      ASSERT_TRUE(Write(writer, values, portion).ok());
      ASSERT_EQ(out, expected) << portion;
    }
  }
}

TEST(TensorWriterTest, AnOffsetIsAddedToAnyNumberOfElements) {
  for (size_t count : {size_t{1}, size_t{31}, size_t{1024}, size_t{2049}}) {
    const std::vector<float> values = Values(count, 2);
    std::vector<float> out(count);
    TensorWriter writer(TensorType::kF32, TensorType::kF32, 1,
                        {reinterpret_cast<uint8_t*>(out.data()), count * sizeof(float)});
    ASSERT_TRUE(Write(writer, values, 7).ok());
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], values[i] + 1) << i;
  }
}

TEST(TensorWriterTest, WhatNoBlockHoldsIsRefused) {
  for (float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -1e30f}) {
    std::vector<float> values = Values(64, 3);
    values[33] = bad;
    std::vector<uint8_t> out(68);
    TensorWriter writer(TensorType::kF32, TensorType::kQ8_0, 0, out);
    EXPECT_EQ(Write(writer, values, 50).code(), ErrorCode::kMalformedFile) << bad;
  }
}

TEST(QuantizeBlocksTest, EveryElementIsWithinHalfAStepOfItsBlock) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values = Values(32, static_cast<uint32_t>(round));
    const float scale = std::ldexp(1.0f, static_cast<int>(random() % 16) - 5);
    for (float& value : values) value *= scale;
    const float extreme = std::abs(Largest(values.data(), 32));
    std::vector<uint8_t> q8(34), q4(18);
    QuantizeBlocks(TensorType::kQ8_0, values.data(), 32, q8.data());
    QuantizeBlocks(TensorType::kQ4_0, values.data(), 32, q4.data());
    const float d8 = HalfAt(q8.data()), d4 = HalfAt(q4.data());
    for (int i = 0; i < 32; ++i) {
      const float x = values[static_cast<size_t>(i)];
      EXPECT_NEAR(d8 * static_cast<int8_t>(q8[static_cast<size_t>(2 + i)]), x,
                  extreme / 127 * 0.6f + 1e-7f);
      const int nibble = q4[static_cast<size_t>(2 + i % 16)] >> (i < 16 ? 0 : 4) & 15;
      // The farthest on the other side of the extreme has no integer of its own: +8 is 7.
      EXPECT_NEAR(d4 * static_cast<float>(nibble - 8), x, extreme / 8 * 1.02f);
    }
  }
}

TEST(QuantizeBlocksTest, ABlockOfZerosStaysZero) {
  const std::vector<float> zeros(32, 0.0f);
  std::vector<uint8_t> block(18, 1);
  QuantizeBlocks(TensorType::kQ4_0, zeros.data(), 32, block.data());
  EXPECT_EQ(HalfAt(block.data()), 0.0f);
  for (size_t i = 2; i < block.size(); ++i) EXPECT_EQ(block[i], 0x88);
}

}  // namespace
}  // namespace kvasir
