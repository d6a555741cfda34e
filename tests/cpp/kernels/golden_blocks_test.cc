// What every type's blocks mean, bit for bit as in gguf-py. The vectors:
// tests/golden/README.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/weight_matrix.h"
#include "shared_models.h"

namespace kvasir {
namespace {

constexpr TensorType kAllTypes[] = {
    TensorType::kF16,    TensorType::kBF16,    TensorType::kQ4_0,    TensorType::kQ4_1,
    TensorType::kQ5_0,   TensorType::kQ5_1,    TensorType::kQ8_0,    TensorType::kQ2_K,
    TensorType::kQ3_K,   TensorType::kQ4_K,    TensorType::kQ5_K,    TensorType::kQ6_K,
    TensorType::kIQ1_S,  TensorType::kIQ1_M,   TensorType::kIQ2_XXS, TensorType::kIQ2_XS,
    TensorType::kIQ2_S,  TensorType::kIQ3_XXS, TensorType::kIQ3_S,   TensorType::kIQ4_NL,
    TensorType::kIQ4_XS, TensorType::kTQ1_0,   TensorType::kTQ2_0,   TensorType::kMXFP4};
constexpr int64_t kBlocks = 12;

class GoldenBlocksTest : public ::testing::TestWithParam<TensorType> {};

// One row of all blocks, and a row a block: groups that are not whole.
TEST_P(GoldenBlocksTest, MeanWhatGgufPySays) {
  const TensorTypeTraits traits = *FindTensorTypeTraits(GetParam());
  const std::string file = ReadGolden("blocks/" + std::string(traits.name) + ".bin").value_or("");
  const auto raw_bytes = static_cast<size_t>(kBlocks * traits.block_bytes);
  std::vector<float> expected(static_cast<size_t>(kBlocks * traits.block_elements));
  ASSERT_EQ(file.size(), raw_bytes + expected.size() * sizeof(float));
  std::memcpy(expected.data(), file.data() + raw_bytes, expected.size() * sizeof(float));
  for (int64_t rows : {int64_t{1}, kBlocks / 2, kBlocks}) {
    const int64_t cols = kBlocks / rows * traits.block_elements;
    WeightMatrixBuilder builder = *WeightMatrixBuilder::Create(GetParam(), rows, cols);
    ASSERT_EQ(builder.raw().size(), raw_bytes);
    std::memcpy(builder.raw().data(), file.data(), raw_bytes);
    const WeightMatrix matrix = *builder.Finish();
    std::vector<float> values(expected.size());
    for (int64_t r = 0; r < rows; ++r) matrix.DequantizeRow(r, values.data() + r * cols);
    for (size_t i = 0; i < values.size(); ++i) {
      // Numbers that are equal have the same bits, but for the sign of zero.
      ASSERT_TRUE(std::isfinite(expected[i]));
      ASSERT_EQ(values[i], expected[i]) << rows << " rows, element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GoldenBlocksTest, ::testing::ValuesIn(kAllTypes),
                         [](const auto& info) {
                           return std::string(FindTensorTypeTraits(info.param)->name);
                         });

}  // namespace
}  // namespace kvasir
