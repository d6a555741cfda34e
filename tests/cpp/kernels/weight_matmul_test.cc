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
#include "kernels/reference_blocks.h"

namespace kvasir {
namespace {

constexpr TensorType kPlainTypes[] = {TensorType::kF32, TensorType::kF16, TensorType::kBF16};

// Bytes as a file has them. Q8_0 has no -128 unless asked.
std::vector<uint8_t> RandomBytes(TensorType type, int64_t rows, int64_t cols, std::mt19937& random,
                                 bool lowest = false) {
  const size_t block_bytes = static_cast<size_t>(FindTensorTypeTraits(type)->block_bytes);
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * RowBytes(type, cols)));
  std::normal_distribution<float> normal(0.0f, 0.05f);
  for (size_t at = 0; at < bytes.size(); at += block_bytes) {
    const float value = normal(random);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (type == TensorType::kF32) {
      std::memcpy(&bytes[at], &value, sizeof(value));
    } else if (type == TensorType::kF16) {
      PutHalf(value, &bytes[at]);
    } else if (type == TensorType::kBF16) {
      bits >>= 16;
      std::memcpy(&bytes[at], &bits, 2);
    } else {
      RandomBlock(type, random, lowest, &bytes[at]);
    }
  }
  return bytes;
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
    if (packed.packed()) {
      values = BlockValues(type, bytes);
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
                            const float* bias, int threads,
                            const SumMethods& methods = FastestSumMethods()) {
  ThreadPool pool(threads);
  Result<QuantizedInput> input = QuantizedInput::Create(n, w.cols());
  EXPECT_TRUE(input.ok());
  input->Set(x.data(), n, w.cols(), pool);
  std::vector<float> y(static_cast<size_t>(n * w.rows()), std::numeric_limits<float>::quiet_NaN());
  MatMul({{&w, bias, y.data()}}, *input, pool, methods);
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

constexpr SumMethods kAllMethods[] = {{SumMethod::kPairs, SumMethod::kQuads},
                                      {SumMethod::kQuads, SumMethod::kWords},
                                      {SumMethod::kWords, SumMethod::kWords}};

TEST(WeightMatMulTest, EveryMethodGivesTheSameBits) {
  std::mt19937 random(7);
  for (TensorType type : kPackedTypes) {
    for (int64_t n : {1, 3, 8, 10}) {
      const int64_t rows = 75, cols = 768;
      const TestWeights weights(type, rows, cols, random);
      const std::vector<float> x = RandomFloats(n * cols, random);
      const std::vector<float> expected =
          Multiply(weights.packed, x, n, nullptr, 1, kAllMethods[0]);
      for (const SumMethods& methods : kAllMethods) {
        EXPECT_EQ(Multiply(weights.packed, x, n, nullptr, 2, methods), expected)
            << static_cast<int>(type) << ", " << n << " inputs";
      }
    }
  }
}

// Sums of pairs wrap on their way; what they come to must not.
TEST(WeightMatMulTest, ExtremesDoNotOverflow) {
  for (TensorType type : kPackedTypes) {
    const TensorTypeTraits traits = *FindTensorTypeTraits(type);
    const int64_t cols = 512;
    for (uint8_t fill : {uint8_t{0x00}, uint8_t{0xff}, uint8_t{0x81}, uint8_t{0x7f}}) {
      WeightMatrixBuilder builder = *WeightMatrixBuilder::Create(type, 4, cols);
      const std::span<uint8_t> raw = builder.raw();
      std::fill(raw.begin(), raw.end(), fill);
      for (size_t at = 0; at < raw.size(); at += static_cast<size_t>(traits.block_bytes)) {
        PutScales(type, 1.0f, &raw[at]);
      }
      std::vector<float> row = BlockValues(type, {raw.begin(), raw.end()});
      row.resize(static_cast<size_t>(cols));
      const WeightMatrix w = *builder.Finish();
      for (float sign : {1.0f, -1.0f}) {
        const std::vector<float> x(static_cast<size_t>(cols), 127.0f * sign);
        double expected = 0, size = 1;
        for (const double value : row) {
          expected += value * 127 * sign;
          size += std::abs(value) * 127;
        }
        for (const SumMethods& methods : kAllMethods) {
          EXPECT_NEAR(Multiply(w, x, 1, nullptr, 1, methods)[2], expected, 1e-6 * size)
              << static_cast<int>(type) << " of bytes " << static_cast<int>(fill);
        }
      }
    }
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
