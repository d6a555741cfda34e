#include "model/expert_routing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace kvasir {
namespace {

// What each row gets from each expert.
std::vector<std::map<int64_t, float>> Shares(const ExpertRouting& routing, int64_t rows,
                                             int64_t experts) {
  std::vector<std::map<int64_t, float>> shares(static_cast<size_t>(rows));
  for (int64_t e = 0; e < experts; ++e) {
    int64_t last = -1;
    for (const auto& [row, weight] : routing.RowsOf(e)) {
      EXPECT_GT(row, last) << "rows of an expert must ascend";
      last = row;
      shares[static_cast<size_t>(row)][e] = weight;
    }
  }
  return shares;
}

TEST(ExpertRoutingTest, KeepsTheLargestOfASoftmaxAndNormalisesThem) {
  constexpr int64_t kRows = 13, kExperts = 9;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<float> logits(kRows * kExperts);
  for (float& logit : logits) logit = normal(random);
  ExpertRouting routing;
  for (int64_t used : {9, 3, 1}) {  // its memory is used again
    routing.Choose(logits.data(), kRows, kExperts, used);
    const auto shares = Shares(routing, kRows, kExperts);
    for (size_t row = 0; row < shares.size(); ++row) {
      ASSERT_EQ(static_cast<int64_t>(shares[row].size()), used);
      const float* of_row = logits.data() + row * kExperts;
      double kept = 0;
      float smallest = std::numeric_limits<float>::infinity();
      for (const auto& [e, _] : shares[row]) {
        kept += std::exp(static_cast<double>(of_row[e]));
        smallest = std::min(smallest, of_row[e]);
      }
      for (int64_t e = 0; e < kExperts; ++e) {
        if (const auto share = shares[row].find(e); share != shares[row].end()) {
          ASSERT_NEAR(share->second, std::exp(static_cast<double>(of_row[e])) / kept, 1e-6);
        } else {
          ASSERT_LE(of_row[e], smallest) << "a larger logit was passed over";
        }
      }
    }
  }
}

TEST(ExpertRoutingTest, OfEqualLogitsTheFirstWinsAndNoNumberIsNoTrap) {
  ExpertRouting routing;
  const std::vector<float> equal(4, 1.0f);
  routing.Choose(equal.data(), 1, 4, 2);
  EXPECT_EQ(Shares(routing, 1, 4)[0], (std::map<int64_t, float>{{0, 0.5f}, {1, 0.5f}}));
  const std::vector<float> none(4, std::numeric_limits<float>::quiet_NaN());
  routing.Choose(none.data(), 1, 4, 2);
  EXPECT_EQ(Shares(routing, 1, 4)[0].size(), 2u);
}

}  // namespace
}  // namespace kvasir
