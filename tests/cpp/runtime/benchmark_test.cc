#include "runtime/benchmark.h"

#include <gtest/gtest.h>

#include <memory>

#include "../model/test_model.h"
#include "letter_tokenizer.h"

namespace kvasir {
namespace {

class BenchmarkTests : public ::testing::Test {
 protected:
  BenchmarkTests() {
    const ModelConfig config = SmallConfig();
    model_ = std::make_shared<const Model>(
        ModelDescription{},
        std::make_unique<LetterTokenizer>(static_cast<int32_t>(config.vocab_size)), config,
        RandomWeights(config, 1), std::map<TensorType, TypeUse>{}, 1);
    session_ = *Session::Create(model_, {.context_length = 100}, *Compute::Create(*model_, 1));
  }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
};

TEST_F(BenchmarkTests, TakesTimeAndLeavesTheDepth) {
  for (BenchmarkTest test : {BenchmarkTest::kPrefill, BenchmarkTest::kDecode}) {
    for (int64_t depth : {int64_t{0}, int64_t{60}, int64_t{7}}) {
      const Result<double> seconds = MeasureSeconds(*session_, test, 20, depth);
      ASSERT_TRUE(seconds.ok()) << seconds.status().message();
      EXPECT_GT(*seconds, 0);
      EXPECT_EQ(session_->length(), depth);
    }
  }
}

TEST_F(BenchmarkTests, WhatTheSessionHeldIsGone) {
  const int32_t other[] = {5, 6, 7};
  std::vector<float> logits(static_cast<size_t>(model_->config().vocab_size));
  ASSERT_TRUE(session_->Append(other, LogitRows::kNone, logits).ok());
  ASSERT_TRUE(MeasureSeconds(*session_, BenchmarkTest::kDecode, 1, 3).ok());
  ASSERT_EQ(session_->length(), 3);
  EXPECT_NE(session_->tokens()[0], other[0]);
}

TEST_F(BenchmarkTests, RefusesWhatCannotBeMeasured) {
  const auto code = [&](int64_t tokens, int64_t depth) {
    return MeasureSeconds(*session_, BenchmarkTest::kPrefill, tokens, depth).status().code();
  };
  EXPECT_EQ(code(0, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(1, -1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(101, 0), ErrorCode::kContextOverflow);
  EXPECT_EQ(code(1, 100), ErrorCode::kContextOverflow);
  EXPECT_EQ(session_->length(), 0);
}

}  // namespace
}  // namespace kvasir
