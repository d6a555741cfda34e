#include "kernels/weight_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/convert.h"
#include "kernels/matrix.h"

namespace kvasir {
namespace {

constexpr TensorType kPackedTypes[] = {TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ4_K,
                                       TensorType::kQ6_K};
constexpr TensorType kPlainTypes[] = {TensorType::kF32, TensorType::kF16, TensorType::kBF16};

// Random bytes as a file has them. Scales are small; Q8_0 has no -128 unless asked.
std::vector<uint8_t> RandomBytes(TensorType type, int64_t rows, int64_t cols, std::mt19937& random,
                                 bool lowest = false) {
  const TensorTypeTraits traits = *FindTensorTypeTraits(type);
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * RowBytes(type, cols)));
  std::normal_distribution<float> normal;
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(traits.block_bytes)) {
    const float value = 0.05f * normal(random);
    if (type == TensorType::kF32) {
      std::memcpy(&bytes[at], &value, sizeof(value));
      continue;
    }
    uint16_t half;
    F32ToF16(&value, 1, &half);
    if (type == TensorType::kBF16) {
      uint32_t wide;
      std::memcpy(&wide, &value, sizeof(wide));
      half = static_cast<uint16_t>(wide >> 16);
    }
    if (type == TensorType::kQ4_K || type == TensorType::kQ6_K) {
      const size_t scales = type == TensorType::kQ4_K ? 2 : 1;
      for (size_t j = 0; j < static_cast<size_t>(traits.block_bytes); ++j) {
        bytes[at + j] = static_cast<uint8_t>(random());
      }
      const size_t d = type == TensorType::kQ4_K ? 0 : 208;
      for (size_t i = 0; i < scales; ++i) {
        const float scale = 0.002f * normal(random);
        F32ToF16(&scale, 1, &half);
        std::memcpy(&bytes[at + d + 2 * i], &half, sizeof(half));
      }
      continue;
    }
    std::memcpy(&bytes[at], &half, sizeof(half));
    for (size_t j = 2; j < static_cast<size_t>(traits.block_bytes); ++j) {
      bytes[at + j] = static_cast<uint8_t>(random());
      if (type == TensorType::kQ8_0 && bytes[at + j] == 128 && !lowest) bytes[at + j] = 129;
    }
  }
  return bytes;
}

float Half(const uint8_t* at) {
  uint16_t bits;
  float value;
  std::memcpy(&bits, at, sizeof(bits));
  F16ToF32(&bits, 1, &value);
  return value;
}

// What a block of a K-quant means, by the definition of the format.
std::vector<float> KBlock(TensorType type, const uint8_t* block) {
  std::vector<float> out(256);
  if (type == TensorType::kQ4_K) {
    const float d = Half(block), dmin = Half(block + 2);
    const uint8_t* s = block + 4;
    for (int sub = 0; sub < 8; ++sub) {
      int scale, min;
      if (sub < 4) {
        scale = s[sub] % 64;
        min = s[sub + 4] % 64;
      } else {
        scale = s[sub + 4] % 16 + 16 * (s[sub - 4] / 64);
        min = s[sub + 4] / 16 + 16 * (s[sub] / 64);
      }
      for (int j = 0; j < 32; ++j) {
        const uint8_t byte = block[16 + sub / 2 * 32 + j];
        const int q = sub % 2 == 0 ? byte % 16 : byte / 16;
        out[static_cast<size_t>(32 * sub + j)] =
            d * static_cast<float>(scale) * static_cast<float>(q) - dmin * static_cast<float>(min);
      }
    }
    return out;
  }
  const float d = Half(block + 208);
  for (int half = 0; half < 2; ++half) {
    for (int l = 0; l < 32; ++l) {
      const uint8_t a = block[64 * half + l], b = block[64 * half + 32 + l];
      const uint8_t upper = block[128 + 32 * half + l];
      const int q[4] = {a % 16 + 16 * (upper % 4), b % 16 + 16 * (upper / 4 % 4),
                        a / 16 + 16 * (upper / 16 % 4), b / 16 + 16 * (upper / 64)};
      for (int quarter = 0; quarter < 4; ++quarter) {
        const auto scale =
            static_cast<int8_t>(block[192 + 8 * half + 2 * quarter + (l < 16 ? 0 : 1)]);
        out[static_cast<size_t>(128 * half + 32 * quarter + l)] =
            d * static_cast<float>(scale) * static_cast<float>(q[quarter] - 32);
      }
    }
  }
  return out;
}

struct TestWeights {
  WeightMatrix packed;
  std::vector<float> values;  // what the bytes mean, [rows, cols]

  TestWeights(TensorType type, int64_t rows, int64_t cols, std::mt19937& random,
              bool lowest = false) {
    const std::vector<uint8_t> bytes = RandomBytes(type, rows, cols, random, lowest);
    Result<WeightMatrixBuilder> builder = WeightMatrixBuilder::Create(type, rows, cols);
    EXPECT_TRUE(builder.ok()) << builder.status().message();
    EXPECT_EQ(builder->raw().size(), bytes.size());
    std::memcpy(builder->raw().data(), bytes.data(), bytes.size());
    packed = *builder->Finish();
    if (type == TensorType::kQ4_K || type == TensorType::kQ6_K) {
      const int64_t block_bytes = FindTensorTypeTraits(type)->block_bytes;
      for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(block_bytes)) {
        const std::vector<float> block = KBlock(type, &bytes[at]);
        values.insert(values.end(), block.begin(), block.end());
      }
      return;
    }
    AlignedBuffer raw = *AlignedBuffer::Allocate(bytes.size());
    std::memcpy(raw.data(), bytes.data(), bytes.size());
    const Matrix plain = *Matrix::FromFile(type, rows, cols, std::move(raw));
    values.resize(static_cast<size_t>(rows * cols));
    for (int64_t r = 0; r < rows; ++r) plain.DequantizeRow(r, values.data() + r * cols);
  }

  std::vector<float> Row(int64_t r) const {
    const auto row = values.begin() + r * packed.cols();
    return {row, row + packed.cols()};
  }
};

std::vector<float> RandomFloats(int64_t n, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

// x after a round through 8 bits, by definition.
std::vector<double> Rounded(const float* x, int64_t cols) {
  std::vector<double> out;
  for (int64_t b = 0; b < cols; b += kInputBlock) {
    float largest = 0;
    for (int64_t j = 0; j < kInputBlock; ++j) largest = std::max(largest, std::abs(x[b + j]));
    const float scale = largest / 127.0f;
    for (int64_t j = 0; j < kInputBlock; ++j) {
      const float q = scale > 0 ? std::round(x[b + j] * (1 / scale)) : 0.0f;
      out.push_back(static_cast<double>(q) * scale);
    }
  }
  return out;
}

std::vector<float> Multiply(const WeightMatrix& w, const std::vector<float>& x, int64_t n,
                            const float* bias, int threads) {
  ThreadPool pool(threads);
  Result<QuantizedInput> input = QuantizedInput::Create(n, w.cols());
  EXPECT_TRUE(input.ok());
  input->Set(x.data(), n, w.cols(), pool);
  std::vector<float> y(static_cast<size_t>(n * w.rows()), std::numeric_limits<float>::quiet_NaN());
  MatMul({{&w, bias, y.data()}}, *input, pool);
  return y;
}

// The integer part is exact, so that only the order of the f32 sums is left.
TEST(WeightMatMulTest, IsTheProductOfTheRoundedInput) {
  std::mt19937 random(1);
  for (TensorType type : kPackedTypes) {
    for (int64_t rows : {1, 3, 4, 5, 8, 16, 23, 64}) {
      for (int64_t cols : {32, 64, 96, 512, 576}) {
        if (cols % FindTensorTypeTraits(type)->block_elements != 0) continue;
        for (int64_t n : {1, 2, 3, 4, 5, 9}) {
          const TestWeights weights(type, rows, cols, random);
          const std::vector<float> x = RandomFloats(n * cols, random);
          const std::vector<float> bias = RandomFloats(rows, random);
          const std::vector<float> y = Multiply(weights.packed, x, n, bias.data(), 2);
          for (int64_t i = 0; i < n; ++i) {
            const std::vector<double> rounded = Rounded(&x[static_cast<size_t>(i * cols)], cols);
            for (int64_t r = 0; r < rows; ++r) {
              const std::vector<float> row = weights.Row(r);
              double expected = bias[static_cast<size_t>(r)], size = 1;
              for (size_t c = 0; c < row.size(); ++c) {
                expected += row[c] * rounded[c];
                size += std::abs(row[c] * rounded[c]);
              }
              ASSERT_NEAR(y[static_cast<size_t>(i * rows + r)], expected, 2e-6 * size)
                  << static_cast<int>(type) << ": " << rows << " x " << cols << ", input " << i
                  << " of " << n << ", row " << r;
            }
          }
        }
      }
    }
  }
}

TEST(WeightMatMulTest, StaysAsCloseToTheExactProductAsTheRoundingExplains) {
  std::mt19937 random(2);
  for (TensorType type : kPackedTypes) {
    const int64_t rows = 64, cols = 1024;
    const TestWeights weights(type, rows, cols, random);
    const std::vector<float> x = RandomFloats(cols, random);
    const std::vector<float> y = Multiply(weights.packed, x, 1, nullptr, 1);
    const std::vector<double> rounded = Rounded(x.data(), cols);
    for (int64_t r = 0; r < rows; ++r) {
      const std::vector<float> row = weights.Row(r);
      double exact = 0, explained = 1e-5;
      for (size_t c = 0; c < row.size(); ++c) {
        exact += static_cast<double>(row[c]) * x[c];
        explained += std::abs(row[c] * (rounded[c] - x[c]));
      }
      EXPECT_NEAR(y[static_cast<size_t>(r)], exact, explained);
    }
  }
}

TEST(WeightMatMulTest, AnInputsResultDoesNotDependOnOthersOrOnThreads) {
  std::mt19937 random(3);
  for (TensorType type : kPackedTypes) {
    const int64_t rows = 150, cols = 512, n = 11;
    const TestWeights weights(type, rows, cols, random);
    const std::vector<float> x = RandomFloats(n * cols, random);
    const std::vector<float> all = Multiply(weights.packed, x, n, nullptr, 1);
    for (int threads : {2, 3}) EXPECT_EQ(Multiply(weights.packed, x, n, nullptr, threads), all);
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float> one(x.begin() + i * cols, x.begin() + (i + 1) * cols);
      const std::vector<float> expected(all.begin() + i * rows, all.begin() + (i + 1) * rows);
      EXPECT_EQ(Multiply(weights.packed, one, 1, nullptr, 2), expected) << "input " << i;
    }
  }
}

// -128 has no magnitude in 7 bits.
TEST(WeightMatMulTest, TheLowestWeightIsExact) {
  std::mt19937 random(4);
  std::vector<uint8_t> bytes(34, 0x80);
  const uint16_t one = 0x3c00;
  std::memcpy(bytes.data(), &one, sizeof(one));
  WeightMatrixBuilder builder = *WeightMatrixBuilder::Create(TensorType::kQ8_0, 1, 32);
  std::memcpy(builder.raw().data(), bytes.data(), bytes.size());
  const WeightMatrix w = *builder.Finish();
  EXPECT_TRUE(w.has_lowest());
  for (float sign : {1.0f, -1.0f}) {
    const std::vector<float> x(32, 127.0f * sign);
    EXPECT_EQ(Multiply(w, x, 1, nullptr, 1)[0], -128.0f * 127.0f * 32.0f * sign);
  }
  const TestWeights weights(TensorType::kQ8_0, 20, 64, random, true);
  EXPECT_FALSE(TestWeights(TensorType::kQ8_0, 20, 64, random).packed.has_lowest());
}

TEST(WeightMatMulTest, ExtremesDoNotOverflow) {
  for (TensorType type : {TensorType::kQ8_0, TensorType::kQ4_0}) {
    const uint16_t one = 0x3c00;
    const int64_t cols = 4096;
    WeightMatrixBuilder builder = *WeightMatrixBuilder::Create(type, 4, cols);
    const std::span<uint8_t> raw = builder.raw();
    const size_t block = static_cast<size_t>(FindTensorTypeTraits(type)->block_bytes);
    for (size_t at = 0; at < raw.size(); at += block) {
      std::memcpy(&raw[at], &one, sizeof(one));
      std::fill_n(raw.begin() + static_cast<ptrdiff_t>(at) + 2, block - 2,
                  type == TensorType::kQ8_0 ? uint8_t{0x81} : uint8_t{0});  // -127, -8
    }
    const WeightMatrix w = *builder.Finish();
    const std::vector<float> x(static_cast<size_t>(cols), 127.0f);
    const float lowest = type == TensorType::kQ8_0 ? -127.0f : -8.0f;
    EXPECT_EQ(Multiply(w, x, 1, nullptr, 1)[2], lowest * 127.0f * static_cast<float>(cols));
  }
}

TEST(WeightMatMulTest, ZerosAndTinyInputsGiveNumbers) {
  std::mt19937 random(5);
  for (TensorType type : kPackedTypes) {
    const TestWeights weights(type, 8, 256, random);
    for (float value : {0.0f, 1e-42f, 1e-30f}) {
      for (float y : Multiply(weights.packed, std::vector<float>(256, value), 1, nullptr, 1)) {
        EXPECT_TRUE(std::isfinite(y));
        EXPECT_NEAR(y, 0, 1e-25);
      }
    }
  }
}

TEST(WeightMatMulTest, OtherTypesMeetTheInputAsItIs) {
  std::mt19937 random(6);
  for (TensorType type : kPlainTypes) {
    const TestWeights weights(type, 21, 50, random);
    EXPECT_FALSE(weights.packed.packed());
    const std::vector<float> x = RandomFloats(3 * 50, random);
    const std::vector<float> y = Multiply(weights.packed, x, 3, nullptr, 2);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t r = 0; r < 21; ++r) {
        const std::vector<float> row = weights.Row(r);
        double expected = 0;
        for (size_t c = 0; c < row.size(); ++c) {
          expected += static_cast<double>(row[c]) * x[static_cast<size_t>(i) * 50 + c];
        }
        EXPECT_NEAR(y[static_cast<size_t>(i * 21 + r)], expected, 1e-5);
      }
    }
  }
}

TEST(WeightMatMulTest, SeveralProductsAreThoseOfEach) {
  std::mt19937 random(7);
  const int64_t cols = 256, n = 5;
  const TestWeights a(TensorType::kQ8_0, 37, cols, random), b(TensorType::kF32, 10, cols, random),
      c(TensorType::kQ4_0, 64, cols, random);
  const std::vector<float> x = RandomFloats(n * cols, random);
  const std::vector<float> bias = RandomFloats(64, random);
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    QuantizedInput input = *QuantizedInput::Create(n, cols);
    input.Set(x.data(), n, cols, pool);
    std::vector<float> ya(n * 37), yb(n * 10), yc(n * 64);
    MatMul({{&a.packed, nullptr, ya.data()},
            {&b.packed, nullptr, yb.data()},
            {&c.packed, bias.data(), yc.data()}},
           input, pool);
    EXPECT_EQ(ya, Multiply(a.packed, x, n, nullptr, 1));
    EXPECT_EQ(yb, Multiply(b.packed, x, n, nullptr, 1));
    EXPECT_EQ(yc, Multiply(c.packed, x, n, bias.data(), 1));
  }
}

TEST(WeightMatrixTest, RowsComeBackAsTheyAreInTheFile) {
  std::mt19937 random(8);
  for (TensorType type : kPackedTypes) {
    for (int64_t rows : {1, 4, 7, 30}) {
      const TestWeights weights(type, rows, 512, random, true);
      EXPECT_TRUE(weights.packed.packed());
      for (int64_t r = 0; r < rows; ++r) {
        std::vector<float> row(512);
        weights.packed.DequantizeRow(r, row.data());
        EXPECT_EQ(row, weights.Row(r));
      }
    }
  }
}

TEST(WeightMatrixTest, TakesTheMemoryOfWholeGroups) {
  std::mt19937 random(9);
  EXPECT_EQ(TestWeights(TensorType::kQ8_0, 8, 64, random).packed.bytes(), 8u * 68u);
  EXPECT_EQ(TestWeights(TensorType::kQ4_0, 5, 64, random).packed.bytes(), 8u * 36u);
  EXPECT_EQ(TestWeights(TensorType::kQ4_K, 5, 256, random).packed.bytes(), 8u * 148u);
  EXPECT_EQ(TestWeights(TensorType::kQ6_K, 5, 256, random).packed.bytes(), 8u * 210u);
}

TEST(WeightMatrixTest, ShapesThatCannotBeAreRefused) {
  const auto code = [](TensorType type, int64_t rows, int64_t cols) {
    return WeightMatrixBuilder::Create(type, rows, cols).status().code();
  };
  EXPECT_EQ(code(TensorType::kQ8_0, 0, 32), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TensorType::kQ8_0, 4, 33), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TensorType::kQ4_K, 4, 32), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TensorType::kQ4_0, 4, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TensorType::kQ4_0, int64_t{1} << 60, 1024), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(static_cast<TensorType>(99), 4, 32), ErrorCode::kUnsupportedModel);
}

}  // namespace
}  // namespace kvasir
