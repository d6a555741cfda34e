// A file whose matrices have a tensor type each, as llama-quantize made it, beside
// llama.cpp on the same weights as F32. The vectors: tests/golden/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gguf_model.h"
#include "golden_file.h"
#include "golden_values.h"

namespace kvasir {
namespace {

using Row = std::span<const float>;

double Cosine(Row a, Row b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

float LargestDifference(Row a, Row b) {
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// By how much the likeliest token leads.
float Lead(Row row) {
  std::vector<float> sorted(row.begin(), row.end());
  std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
  return sorted[0] - sorted[1];
}

auto Likeliest(Row row) { return std::max_element(row.begin(), row.end()) - row.begin(); }

TEST(MixedTypesTest, AFileOfAllTypesAgreesWithItsWeightsInF32) {
  const GgufModel model(ReadGolden("mixed-types.gguf").value_or(""));
  ASSERT_TRUE(model.status().ok()) << model.status().message();
  EXPECT_EQ(model.types().size(), 23u);  // F32 for the norms
  std::vector<int32_t> tokens = ReadGoldenFile("mixed-types").tokens;
  const std::vector<float> expected = ReadFloats("mixed-types.logits");
  const auto vocab = static_cast<size_t>(model.config().vocab_size);
  ASSERT_EQ(expected.size(), tokens.size() * vocab);
  for (int64_t prefill : {1, 17, 80}) {
    const Result<std::vector<float>> logits = model.Logits(tokens, 0, prefill);
    ASSERT_TRUE(logits.ok()) << logits.status().message();
    size_t clear = 0;
    for (size_t at = 0; at < expected.size(); at += vocab) {
      const Row ours = Row(*logits).subspan(at, vocab), theirs = Row(expected).subspan(at, vocab);
      EXPECT_GE(Cosine(ours, theirs), 0.9995) << "after token " << at / vocab;
      if (Lead(theirs) <= LargestDifference(ours, theirs)) continue;
      ++clear;
      EXPECT_EQ(Likeliest(ours), Likeliest(theirs)) << "after token " << at / vocab;
    }
    EXPECT_GT(clear, tokens.size() / 2);
  }
}

// The last 32 tokens of the vectors are what it goes on with.
TEST(MixedTypesTest, AFileOfAllTypesGoesOnWithTheLikeliestTokens) {
  const GgufModel model(ReadGolden("mixed-types.gguf").value_or(""));
  ASSERT_TRUE(model.status().ok()) << model.status().message();
  const std::vector<int32_t> expected = ReadGoldenFile("mixed-types").tokens;
  ASSERT_EQ(expected.size(), 80u);
  std::vector<int32_t> tokens(expected.begin(), expected.begin() + 48);
  ASSERT_TRUE(model.Logits(tokens, 32, 48).ok());
  EXPECT_EQ(tokens, expected);
}

}  // namespace
}  // namespace kvasir
