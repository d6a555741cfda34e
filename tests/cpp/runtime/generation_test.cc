#include "runtime/generation.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "../model/test_model.h"
#include "letter_tokenizer.h"

namespace kvasir {
namespace {

struct Output {
  std::string text;
  std::vector<TokenId> tokens;
  std::optional<FinishReason> reason;
  int prefill_steps = 0;
};

class GenerationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const ModelConfig config = SmallConfig();
    model_ = std::make_shared<const Model>(
        ModelDescription{},
        std::make_unique<LetterTokenizer>(static_cast<int32_t>(config.vocab_size)), config,
        RandomWeights(config, 1), std::map<TensorType, TypeUse>{}, 1);
    compute_ = *Compute::Create(*model_, 1);
    NewSession(64);
  }

  void NewSession(int64_t context) {
    Result<std::unique_ptr<Session>> session =
        Session::Create(model_, {.context_length = context, .kv_type = KvType::kF32}, compute_);
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_ = *std::move(session);
  }

  // Options under which the model says just `token`, whatever its weights.
  static GenerateOptions Forced(TokenId token, int64_t max_tokens) {
    GenerateOptions options;
    options.max_tokens = max_tokens;
    options.sampler.temperature = 0;
    options.sampler.logit_bias = {{token, 1e6f}};
    return options;
  }

  static GenerateOptions Greedy(int64_t max_tokens) {
    GenerateOptions options;
    options.max_tokens = max_tokens;
    options.sampler.temperature = 0;
    options.ignore_eos = true;
    return options;
  }

  std::unique_ptr<Generation> Start(std::vector<TokenId> prompt, const GenerateOptions& options) {
    Result<std::unique_ptr<Generation>> generation =
        Generation::Create(*session_, std::move(prompt), options);
    EXPECT_TRUE(generation.ok()) << generation.status().message();
    return generation.ok() ? *std::move(generation) : nullptr;
  }

  static Output Drain(Generation& generation, int cancel_after = -1) {
    Output output;
    while (!output.reason.has_value()) {
      if (cancel_after-- == 0) generation.Cancel();
      const Result<GenerationStep> step = generation.Step();
      EXPECT_TRUE(step.ok()) << step.status().message();
      if (!step.ok()) break;
      output.text += step->text;
      if (step->token) output.tokens.push_back(*step->token);
      if (step->kind == StepKind::kPrefill) ++output.prefill_steps;
      output.reason = step->finish_reason;
    }
    return output;
  }

  Output Run(std::vector<TokenId> prompt, const GenerateOptions& options) {
    return Drain(*Start(std::move(prompt), options));
  }

  static TokenId L(char letter) { return LetterTokenizer::Letter(letter); }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<Compute> compute_;
  std::unique_ptr<Session> session_;
};

TEST_F(GenerationTest, EndsAtMaxTokens) {
  const Output output = Run({0, L('x')}, Forced(L('a'), 5));
  EXPECT_EQ(output.text, "aaaaa");
  EXPECT_EQ(output.tokens.size(), 5u);
  EXPECT_EQ(output.reason, FinishReason::kLength);
}

TEST_F(GenerationTest, MaxTokensZeroDrawsNothing) {
  const Output output = Run({0, L('x')}, Forced(L('a'), 0));
  EXPECT_EQ(output.text, "");
  EXPECT_TRUE(output.tokens.empty());
  EXPECT_EQ(output.reason, FinishReason::kLength);
}

TEST_F(GenerationTest, EndsAtEosWithoutShowingIt) {
  const Output output = Run({0, L('x')}, Forced(1, 5));
  EXPECT_EQ(output.text, "");
  EXPECT_TRUE(output.tokens.empty());
  EXPECT_EQ(output.reason, FinishReason::kEos);
}

TEST_F(GenerationTest, IgnoreEosGoesOn) {
  GenerateOptions options = Forced(1, 5);
  options.ignore_eos = true;
  const Output output = Run({0, L('x')}, options);
  EXPECT_EQ(output.tokens.size(), 5u);
  EXPECT_EQ(output.reason, FinishReason::kLength);
}

TEST_F(GenerationTest, EndsBeforeAStopStringOverSeveralTokens) {
  GenerateOptions options = Forced(L('a'), 50);
  options.stops = {"aaaa"};
  const Output output = Run({0, L('x')}, options);
  EXPECT_EQ(output.text, "");
  EXPECT_EQ(output.tokens.size(), 4u);
  EXPECT_EQ(output.reason, FinishReason::kStop);
}

TEST_F(GenerationTest, TextHeldForAStopComesAtTheEnd) {
  GenerateOptions options = Forced(L('a'), 3);
  options.stops = {"aaaa"};
  EXPECT_EQ(Run({0, L('x')}, options).text, "aaa");
}

TEST_F(GenerationTest, HalfACodePointIsNeverShown) {
  const Output output = Run({0, L('x')}, Forced(2, 3));
  EXPECT_EQ(output.text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_F(GenerationTest, EndsWhenTheContextIsFull) {
  NewSession(10);
  const Output output = Run({0, L('x'), L('y')}, Forced(L('a'), 100));
  EXPECT_EQ(output.reason, FinishReason::kContext);
  // The last token drawn needs no room: it is not computed.
  EXPECT_EQ(output.tokens.size(), 10u - 3u + 1u);
  EXPECT_EQ(session_->length(), 10);
}

TEST_F(GenerationTest, CancelEndsAtTheNextStep) {
  const std::unique_ptr<Generation> generation = Start({0, L('x')}, Forced(L('a'), 100));
  const Output output = Drain(*generation, 1 + 3);
  EXPECT_EQ(output.text, "aaa");
  EXPECT_EQ(output.reason, FinishReason::kAbort);
}

TEST_F(GenerationTest, AStepAfterTheEndStaysAtTheEnd) {
  const std::unique_ptr<Generation> generation = Start({0, L('x')}, Forced(L('a'), 1));
  Drain(*generation);
  const Result<GenerationStep> step = generation->Step();
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->kind, StepKind::kDone);
  EXPECT_EQ(step->text, "");
  EXPECT_EQ(step->finish_reason, FinishReason::kLength);
}

TEST_F(GenerationTest, AnotherGenerationBeginsAfresh) {
  const std::vector<TokenId> prompt = {0, L('x'), L('y')};
  const Output first = Run(prompt, Greedy(20));
  Run({0, L('q')}, Greedy(5));
  EXPECT_EQ(Run(prompt, Greedy(20)).tokens, first.tokens);
}

TEST_F(GenerationTest, GreedyTokensAreThoseOfTheLogits) {
  const std::vector<TokenId> prompt = {0, L('x'), L('y')};
  const Output output = Run(prompt, Greedy(20));
  std::vector<TokenId> tokens = prompt;
  tokens.insert(tokens.end(), output.tokens.begin(), output.tokens.end());
  const Result<std::vector<float>> logits = session_->Logits(tokens);
  ASSERT_TRUE(logits.ok());
  const size_t vocab = static_cast<size_t>(model_->config().vocab_size);
  for (size_t i = prompt.size(); i < tokens.size(); ++i) {
    const auto row = logits->begin() + static_cast<std::ptrdiff_t>((i - 1) * vocab);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(vocab)) - row;
    EXPECT_EQ(best, tokens[i]) << "token " << i;
  }
}

TEST_F(GenerationTest, ALongPromptRunsInChunks) {
  NewSession(256);
  std::vector<TokenId> prompt(200, L('x'));
  const Output output = Run(prompt, Greedy(3));
  EXPECT_EQ(output.prefill_steps, 2);
  EXPECT_EQ(output.tokens.size(), 3u);
}

TEST_F(GenerationTest, BadInputIsRefused) {
  const auto code = [&](std::vector<TokenId> prompt, const GenerateOptions& options) {
    return Generation::Create(*session_, std::move(prompt), options).status().code();
  };
  EXPECT_EQ(code({}, Greedy(1)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({50}, Greedy(1)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({-1}, Greedy(1)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({0}, Greedy(-1)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(std::vector<TokenId>(65, 0), Greedy(1)), ErrorCode::kContextOverflow);
  GenerateOptions options = Greedy(1);
  options.sampler.temperature = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(code({0}, options), ErrorCode::kInvalidArgument);
}

TEST_F(GenerationTest, ASessionRefusesAContextBeyondTheModels) {
  const auto code = [&](int64_t context) {
    return Session::Create(model_, {.context_length = context}, compute_).status().code();
  };
  EXPECT_EQ(code(257), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(-1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(256), ErrorCode::kOk);
}

}  // namespace
}  // namespace kvasir
