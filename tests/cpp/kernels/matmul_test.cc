#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/convert.h"

namespace kvasir {
namespace {

struct TestMatrix {
  Matrix matrix;
  std::vector<double> values;  // what the bytes mean, [rows, cols]
};

double Half(uint16_t bits) {
  float value;
  F16ToF32(&bits, 1, &value);
  return value;
}

// Random bytes of a type, and their meaning by the type's definition.
TestMatrix MakeMatrix(TensorType type, int64_t rows, int64_t cols, std::mt19937& random) {
  const TensorTypeTraits traits = *FindTensorTypeTraits(type);
  Result<AlignedBuffer> raw =
      AlignedBuffer::Allocate(static_cast<size_t>(rows * RowBytes(type, cols)));
  EXPECT_TRUE(raw.ok());
  std::normal_distribution<float> normal;
  TestMatrix test;
  uint8_t* out = raw->data();
  const int64_t blocks = rows * cols / traits.block_elements;
  for (int64_t b = 0; b < blocks; ++b, out += traits.block_bytes) {
    if (type == TensorType::kF32) {
      const float value = normal(random);
      std::memcpy(out, &value, sizeof(value));
      test.values.push_back(value);
      continue;
    }
    const float scale = normal(random) * (traits.block_elements > 1 ? 0.1f : 1.0f);
    uint16_t bits;
    F32ToF16(&scale, 1, &bits);
    if (type == TensorType::kBF16) {
      uint32_t wide;
      std::memcpy(&wide, &scale, sizeof(wide));
      bits = static_cast<uint16_t>(wide >> 16);
      float value;
      wide &= 0xffff0000u;
      std::memcpy(&value, &wide, sizeof(value));
      test.values.push_back(value);
    }
    std::memcpy(out, &bits, sizeof(bits));
    if (type == TensorType::kF16) test.values.push_back(Half(bits));
    if (type == TensorType::kQ8_0) {
      for (int j = 0; j < 32; ++j) {
        const auto q = static_cast<int8_t>(random());
        out[2 + j] = static_cast<uint8_t>(q);
        test.values.push_back(Half(bits) * q);
      }
    }
    if (type == TensorType::kQ4_0) {
      for (int j = 0; j < 16; ++j) out[2 + j] = static_cast<uint8_t>(random());
      for (int j = 0; j < 16; ++j) test.values.push_back(Half(bits) * ((out[2 + j] & 15) - 8));
      for (int j = 0; j < 16; ++j) test.values.push_back(Half(bits) * ((out[2 + j] >> 4) - 8));
    }
  }
  Result<Matrix> matrix = Matrix::FromFile(type, rows, cols, *std::move(raw));
  EXPECT_TRUE(matrix.ok()) << matrix.status().message();
  test.matrix = *std::move(matrix);
  return test;
}

std::vector<float> Random(int64_t n, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

class MatMulTest : public ::testing::TestWithParam<TensorType> {
 protected:
  std::vector<std::pair<int64_t, int64_t>> Shapes() const {
    const bool blocks = FindTensorTypeTraits(GetParam())->block_elements > 1;
    if (blocks) return {{1, 32}, {7, 64}, {8, 96}, {33, 160}, {64, 1024}};
    return {{1, 1}, {3, 7}, {8, 32}, {9, 33}, {16, 172}, {33, 100}, {64, 1031}};
  }
  std::mt19937 random_{42};
};

TEST_P(MatMulTest, AgreesWithADoublePrecisionProduct) {
  for (const auto& [rows, cols] : Shapes()) {
    const TestMatrix w = MakeMatrix(GetParam(), rows, cols, random_);
    for (int64_t n : {1, 2, 4, 5, 9}) {
      const std::vector<float> x = Random(n * cols, random_);
      const std::vector<float> bias = Random(rows, random_);
      std::vector<float> y(static_cast<size_t>(n * rows));
      ThreadPool pool(2);
      MatMul(w.matrix, x.data(), n, bias.data(), y.data(), pool);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t r = 0; r < rows; ++r) {
          double sum = bias[static_cast<size_t>(r)], size = std::abs(sum);
          for (int64_t c = 0; c < cols; ++c) {
            const double product =
                w.values[static_cast<size_t>(r * cols + c)] * x[static_cast<size_t>(i * cols + c)];
            sum += product;
            size += std::abs(product);
          }
          ASSERT_NEAR(y[static_cast<size_t>(i * rows + r)], sum, 1e-6 * size + 1e-7)
              << rows << " x " << cols << ", n " << n << ", row " << r;
        }
      }
    }
  }
}

TEST_P(MatMulTest, ARowOfXGivesTheSameBitsWhateverComesWithIt) {
  for (const auto& [rows, cols] : Shapes()) {
    const TestMatrix w = MakeMatrix(GetParam(), rows, cols, random_);
    constexpr int64_t kRows = 7;
    const std::vector<float> x = Random(kRows * cols, random_);
    std::vector<float> single(static_cast<size_t>(kRows * rows));
    ThreadPool one(1);
    for (int64_t i = 0; i < kRows; ++i) {
      MatMul(w.matrix, x.data() + i * cols, 1, nullptr, single.data() + i * rows, one);
    }
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      std::vector<float> together(single.size());
      MatMul(w.matrix, x.data(), kRows, nullptr, together.data(), pool);
      ASSERT_EQ(0, std::memcmp(single.data(), together.data(), single.size() * sizeof(float)))
          << rows << " x " << cols << ", " << threads << " threads";
    }
  }
}

TEST_P(MatMulTest, AProductThatIsWorthThreadsIsTheSameWithThem) {
  const TestMatrix w = MakeMatrix(GetParam(), 203, 2048, random_);
  const std::vector<float> x = Random(3 * 2048, random_);
  std::vector<float> one(3 * 203), many(one.size());
  ThreadPool single(1), pool(3);
  MatMul(w.matrix, x.data(), 3, nullptr, one.data(), single);
  MatMul(w.matrix, x.data(), 3, nullptr, many.data(), pool);
  EXPECT_EQ(0, std::memcmp(one.data(), many.data(), one.size() * sizeof(float)));
}

TEST_P(MatMulTest, ARowIsDequantizedExactly) {
  for (const auto& [rows, cols] : Shapes()) {
    const TestMatrix w = MakeMatrix(GetParam(), rows, cols, random_);
    std::vector<float> row(static_cast<size_t>(cols));
    for (int64_t r = 0; r < rows; ++r) {
      w.matrix.DequantizeRow(r, row.data());
      for (int64_t c = 0; c < cols; ++c) {
        ASSERT_EQ(row[static_cast<size_t>(c)],
                  static_cast<float>(w.values[static_cast<size_t>(r * cols + c)]));
      }
    }
  }
}

TEST_P(MatMulTest, BytesThatDoNotMakeTheMatrixAreRefused) {
  const auto code = [&](int64_t rows, int64_t cols, size_t bytes) {
    Result<AlignedBuffer> raw = AlignedBuffer::Allocate(bytes);
    return Matrix::FromFile(GetParam(), rows, cols, *std::move(raw)).status().code();
  };
  const size_t right = static_cast<size_t>(2 * RowBytes(GetParam(), 32));
  EXPECT_EQ(code(2, 32, right), ErrorCode::kOk);
  EXPECT_EQ(code(2, 32, right - 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(2, 32, right + 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(0, 32, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(int64_t{1} << 62, 32, right), ErrorCode::kInvalidArgument);
  if (FindTensorTypeTraits(GetParam())->block_elements > 1) {
    EXPECT_EQ(code(2, 33, right), ErrorCode::kInvalidArgument);
  }
}

TEST(MatrixTest, AnUnknownTypeIsUnsupported) {
  Result<AlignedBuffer> raw = AlignedBuffer::Allocate(64);
  EXPECT_EQ(Matrix::FromFile(static_cast<TensorType>(4), 1, 32, *std::move(raw)).status().code(),
            ErrorCode::kUnsupportedModel);
}

INSTANTIATE_TEST_SUITE_P(Types, MatMulTest,
                         ::testing::Values(TensorType::kF32, TensorType::kF16, TensorType::kBF16,
                                           TensorType::kQ8_0, TensorType::kQ4_0),
                         [](const auto& info) {
                           return std::string(FindTensorTypeTraits(info.param)->name);
                         });

}  // namespace
}  // namespace kvasir
