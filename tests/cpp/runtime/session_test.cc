#include "runtime/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "../model/test_model.h"
#include "letter_tokenizer.h"
#include "runtime/generation.h"

namespace kvasir {
namespace {

std::shared_ptr<const Model> SmallModel(uint32_t seed) {
  const ModelConfig config = SmallConfig();
  return std::make_shared<const Model>(
      ModelDescription{},
      std::make_unique<LetterTokenizer>(static_cast<int32_t>(config.vocab_size)), config,
      RandomWeights(config, seed), std::map<TensorType, TypeUse>{}, seed);
}

class SessionTest : public ::testing::TestWithParam<KvType> {
 protected:
  std::unique_ptr<Session> NewSession(SessionOptions options) const {
    options.kv_type = GetParam();
    Result<std::unique_ptr<Session>> session = Session::Create(model_, options, compute_);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return *std::move(session);
  }
  std::unique_ptr<Session> NewSession() const { return NewSession({.context_length = 100}); }

  std::vector<TokenId> Tokens(int64_t count, uint32_t seed) const {
    return RandomTokens(count, model_->config().vocab_size, seed);
  }

  static void Run(Session& session, std::span<const TokenId> tokens) {
    for (size_t done = 0; done < tokens.size(); done += kPrefillChunk) {
      const auto part = tokens.subspan(done, std::min<size_t>(kPrefillChunk, tokens.size() - done));
      const Status status = session.Append(part, LogitRows::kNone, {});
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  std::vector<float> LogitsAfter(Session& session, TokenId token) const {
    std::vector<float> logits(static_cast<size_t>(model_->config().vocab_size));
    const Status status = session.Append(std::span(&token, 1), LogitRows::kLast, logits);
    EXPECT_TRUE(status.ok()) << status.message();
    return logits;
  }

  struct Output {
    std::vector<TokenId> tokens;
    GenerationTimings timings;
    FinishReason reason = FinishReason::kAbort;
  };

  static Output Generate(Session& session, std::vector<TokenId> prompt, int64_t count,
                         std::optional<int64_t> shift_keep = {}) {
    GenerateOptions options;
    options.max_tokens = count;
    options.ignore_eos = true;
    options.sampler.temperature = 0;
    options.shift_keep = shift_keep;
    Result<std::unique_ptr<Generation>> generation =
        Generation::Create(session, std::move(prompt), options);
    EXPECT_TRUE(generation.ok()) << generation.status().message();
    Output output;
    while (true) {
      const Result<GenerationStep> step = (*generation)->Step();
      EXPECT_TRUE(step.ok()) << step.status().message();
      if (!step.ok()) return output;
      if (step->token) output.tokens.push_back(*step->token);
      if (step->finish_reason) output.reason = *step->finish_reason;
      if (step->kind == StepKind::kDone) break;
    }
    output.timings = (*generation)->timings();
    return output;
  }

  static std::vector<uint8_t> Saved(const Session& session) {
    const Result<AlignedBuffer> saved = session.Save();
    EXPECT_TRUE(saved.ok());
    return {saved->bytes().begin(), saved->bytes().end()};
  }

  std::shared_ptr<const Model> model_ = SmallModel(1);
  std::shared_ptr<Compute> compute_ = *Compute::Create(*model_, 1);
};

TEST_P(SessionTest, ClearThenRerunIsTheSameBitForBit) {
  const std::unique_ptr<Session> session = NewSession();
  const std::vector<TokenId> tokens = Tokens(40, 2);
  Run(*session, tokens);
  const std::vector<uint8_t> first = Saved(*session);
  session->Clear();
  EXPECT_EQ(session->length(), 0);
  Run(*session, tokens);
  EXPECT_EQ(Saved(*session), first);
}

TEST_P(SessionTest, TruncateThenGenerateEqualsAFreshRun) {
  const std::vector<TokenId> tokens = Tokens(40, 2), others = Tokens(20, 3);
  const std::unique_ptr<Session> fresh = NewSession();
  Run(*fresh, std::span(tokens).first(17));
  Run(*fresh, others);
  const std::unique_ptr<Session> session = NewSession();
  Run(*session, tokens);
  ASSERT_TRUE(session->Truncate(17).ok());
  Run(*session, others);
  EXPECT_EQ(Saved(*session), Saved(*fresh));
  EXPECT_EQ(session->Truncate(38).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(session->Truncate(-1).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Saved(*session), Saved(*fresh));
}

TEST_P(SessionTest, AForkDivergesAndTheParentStaysAsItWas) {
  const std::unique_ptr<Session> parent = NewSession();
  Run(*parent, Tokens(30, 2));
  const std::vector<uint8_t> before = Saved(*parent);
  Result<std::unique_ptr<Session>> fork = parent->Fork();
  ASSERT_TRUE(fork.ok());
  EXPECT_EQ(Saved(**fork), before);
  Run(**fork, Tokens(20, 4));
  ASSERT_TRUE((*fork)->Truncate(5).ok());
  EXPECT_EQ(Saved(*parent), before);
  // And the parent goes on as if there had been no fork.
  const std::unique_ptr<Session> alone = NewSession();
  Run(*alone, Tokens(30, 2));
  EXPECT_EQ(LogitsAfter(*parent, 7), LogitsAfter(*alone, 7));
}

TEST_P(SessionTest, OnlyWhatDiffersIsComputedAgain) {
  const std::vector<TokenId> prompt = Tokens(30, 2);
  std::vector<TokenId> longer = prompt, other = prompt;
  const std::vector<TokenId> more = Tokens(10, 3);
  longer.insert(longer.end(), more.begin(), more.end());
  other[12] = (other[12] + 1) % 50;
  const auto fresh = [&](const std::vector<TokenId>& tokens) {
    return Generate(*NewSession(), tokens, 8).tokens;
  };
  const std::unique_ptr<Session> session = NewSession();
  Output output = Generate(*session, prompt, 8);
  EXPECT_EQ(output.timings.reused_tokens, 0);
  output = Generate(*session, longer, 8);
  EXPECT_EQ(output.timings.reused_tokens, 30);
  EXPECT_EQ(output.timings.prompt_tokens, 40);
  EXPECT_EQ(output.tokens, fresh(longer));
  output = Generate(*session, other, 8);
  EXPECT_EQ(output.timings.reused_tokens, 12);
  EXPECT_EQ(output.tokens, fresh(other));
  // The very same prompt: its last token is run again, for its logits.
  output = Generate(*session, other, 8);
  EXPECT_EQ(output.timings.reused_tokens, 29);
  EXPECT_EQ(output.tokens, fresh(other));
  // The prompt with what was generated: all but the last token, never computed.
  other.insert(other.end(), output.tokens.begin(), output.tokens.end());
  output = Generate(*session, other, 8);
  EXPECT_EQ(output.timings.reused_tokens, 37);
  EXPECT_EQ(output.tokens, fresh(other));
}

TEST_P(SessionTest, AWindowLimitsWhatIsReused) {
  const std::unique_ptr<Session> session =
      NewSession({.context_length = 100, .window = 16, .sink = 2});
  const std::vector<TokenId> prompt = Tokens(400, 2);
  Generate(*session, prompt, 4);
  // 143 slots behind the sink: far back nothing is left to start from.
  std::vector<TokenId> other = prompt;
  other[50] = (other[50] + 1) % 50;
  Output output = Generate(*session, other, 4);
  EXPECT_EQ(output.timings.reused_tokens, 0);
  EXPECT_EQ(
      output.tokens,
      Generate(*NewSession({.context_length = 100, .window = 16, .sink = 2}), other, 4).tokens);
  output = Generate(*session, other, 4);
  EXPECT_EQ(output.timings.reused_tokens, 399);
}

TEST_P(SessionTest, ARestoredSessionGoesOnAsIfNothingHadHappened) {
  for (int64_t window : {0, 16}) {
    const SessionOptions options = {
        .context_length = 100, .window = window, .sink = window == 0 ? 0 : 3};
    const std::unique_ptr<Session> session = NewSession(options);
    Run(*session, Tokens(60, 2));
    const std::vector<uint8_t> saved = Saved(*session);
    Result<std::unique_ptr<Session>> restored = Session::Restore(model_, saved, compute_);
    ASSERT_TRUE(restored.ok()) << restored.status().message();
    EXPECT_EQ(Saved(**restored), saved);
    EXPECT_EQ((*restored)->length(), 60);
    EXPECT_EQ((*restored)->capacity(), session->capacity());
    for (TokenId token : Tokens(20, 5)) {
      ASSERT_EQ(LogitsAfter(**restored, token), LogitsAfter(*session, token));
    }
  }
}

TEST_P(SessionTest, ADamagedSaveIsRefused) {
  const std::unique_ptr<Session> session = NewSession();
  Run(*session, Tokens(10, 2));
  const std::vector<uint8_t> saved = Saved(*session);
  const auto code = [&](std::span<const uint8_t> bytes) {
    return Session::Restore(model_, bytes, compute_).status().code();
  };
  EXPECT_EQ(code(saved), ErrorCode::kOk);
  for (size_t length = 0; length < saved.size(); ++length) {
    ASSERT_EQ(code(std::span(saved).first(length)), ErrorCode::kMalformedFile) << length;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    std::vector<uint8_t> damaged = saved;
    damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    ASSERT_EQ(code(damaged), ErrorCode::kMalformedFile) << i;
  }
  std::vector<uint8_t> longer = saved;
  longer.push_back(0);
  EXPECT_EQ(code(longer), ErrorCode::kMalformedFile);
}

TEST_P(SessionTest, ASaveOfAnotherModelIsRefused) {
  const std::unique_ptr<Session> session = NewSession();
  Run(*session, Tokens(10, 2));
  const std::shared_ptr<const Model> other = SmallModel(2);
  EXPECT_EQ(Session::Restore(other, Saved(*session), compute_).status().code(),
            ErrorCode::kInvalidArgument);
}

TEST_P(SessionTest, AFullContextShiftsToTheKeptTokensAndTheLaterHalf) {
  const std::unique_ptr<Session> session = NewSession({.context_length = 40});
  const std::vector<TokenId> prompt = Tokens(30, 2);
  const Output output = Generate(*session, prompt, 25, 4);
  EXPECT_EQ(output.reason, FinishReason::kLength);
  ASSERT_EQ(output.tokens.size(), 25u);
  // Full at 40 tokens, with the 11th drawn and not computed: 4 stay, and 18 of
  // the 36 others.
  std::vector<TokenId> text = prompt;
  text.insert(text.end(), output.tokens.begin(), output.tokens.begin() + 11);
  std::vector<TokenId> kept(text.begin(), text.begin() + 4);
  kept.insert(kept.end(), text.end() - 1 - 18, text.end());
  const Output fresh = Generate(*NewSession({.context_length = 40}), kept, 14);
  EXPECT_EQ(fresh.tokens, (std::vector<TokenId>(output.tokens.begin() + 11, output.tokens.end())));
}

TEST_P(SessionTest, ShiftingGoesOnForAsLongAsAsked) {
  for (int64_t keep : {0, 1, 38}) {
    const std::unique_ptr<Session> session = NewSession({.context_length = 40});
    const Output output = Generate(*session, Tokens(40, 2), 300, keep);
    EXPECT_EQ(output.reason, FinishReason::kLength);
    EXPECT_EQ(output.tokens.size(), 300u);
    EXPECT_LE(session->length(), 40);
  }
}

TEST_P(SessionTest, AShiftThatLeavesNoRoomIsRefused) {
  const std::unique_ptr<Session> session = NewSession({.context_length = 40});
  Run(*session, Tokens(5, 2));
  for (int64_t keep : {int64_t{-1}, int64_t{39}, std::numeric_limits<int64_t>::max()}) {
    GenerateOptions options;
    options.shift_keep = keep;
    EXPECT_EQ(Generation::Create(*session, Tokens(5, 3), options).status().code(),
              ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(session->length(), 5);
}

TEST_P(SessionTest, AWindowNeverFillsUpAndTakesNoMoreMemory) {
  const std::unique_ptr<Session> session =
      NewSession({.context_length = 40, .window = 30, .sink = 4});
  const int64_t bytes = session->kv_cache_bytes();
  const Output output = Generate(*session, Tokens(200, 2), 300);
  EXPECT_EQ(output.reason, FinishReason::kLength);
  EXPECT_EQ(output.tokens.size(), 300u);
  EXPECT_EQ(session->kv_cache_bytes(), bytes);
}

// As long as nothing has left it, a window changes nothing.
TEST_P(SessionTest, InsideOfTheWindowTheTextIsTheSame) {
  const std::vector<TokenId> prompt = Tokens(20, 2);
  const Output plain = Generate(*NewSession(), prompt, 30);
  const Output windowed =
      Generate(*NewSession({.context_length = 100, .window = 60, .sink = 4}), prompt, 30);
  EXPECT_EQ(windowed.tokens, plain.tokens);
}

TEST_P(SessionTest, LogProbabilitiesAreThoseOfTheLogits) {
  const std::unique_ptr<Session> session = NewSession({.context_length = 256});
  const std::vector<TokenId> tokens = Tokens(200, 2);
  const Result<std::vector<float>> logits = session->Logits(tokens);
  const Result<std::vector<float>> scores = session->LogProbabilities(tokens);
  ASSERT_TRUE(logits.ok() && scores.ok());
  ASSERT_EQ(scores->size(), 199u);
  const size_t vocab = 50;
  for (size_t i = 0; i < scores->size(); ++i) {
    double total = 0;
    for (size_t t = 0; t < vocab; ++t) total += std::exp((*logits)[i * vocab + t]);
    const float logit = (*logits)[i * vocab + static_cast<size_t>(tokens[i + 1])];
    EXPECT_NEAR((*scores)[i], logit - std::log(total), 1e-4) << i;
  }
  EXPECT_TRUE(session->LogProbabilities({})->empty());
  EXPECT_EQ(session->LogProbabilities(Tokens(257, 2)).status().code(), ErrorCode::kContextOverflow);
}

TEST_P(SessionTest, BadOptionsAreRefused) {
  const auto code = [&](SessionOptions options) {
    options.kv_type = GetParam();
    return Session::Create(model_, options, compute_).status().code();
  };
  EXPECT_EQ(code({.context_length = 257}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.context_length = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.window = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.sink = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.window = 10, .sink = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.context_length = 40, .window = 41}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.context_length = 40, .window = 40, .sink = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.context_length = 40, .window = 1, .sink = std::numeric_limits<int64_t>::max()}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.context_length = 40, .window = 36, .sink = 4}), ErrorCode::kOk);
}

INSTANTIATE_TEST_SUITE_P(Types, SessionTest,
                         ::testing::Values(KvType::kF32, KvType::kF16, KvType::kI8),
                         [](const auto& info) {
                           return info.param == KvType::kF32   ? "f32"
                                  : info.param == KvType::kF16 ? "f16"
                                                               : "i8";
                         });

TEST(CacheTypeTest, NamesAreChecked) {
  EXPECT_EQ(*ParseKvType("f32"), KvType::kF32);
  EXPECT_EQ(*ParseKvType("f16"), KvType::kF16);
  EXPECT_EQ(*ParseKvType("i8"), KvType::kI8);
  EXPECT_EQ(ParseKvType("i4").status().code(), ErrorCode::kInvalidArgument);
  for (KvType type : {KvType::kF32, KvType::kF16, KvType::kI8}) {
    EXPECT_EQ(*ParseKvType(KvTypeName(type)), type);
  }
  EXPECT_EQ(ParseKvType("").status().code(), ErrorCode::kInvalidArgument);
}

TEST(FullCompute, AModelWithoutWeightsCannotCompute) {
  const Model vocabulary({}, std::make_unique<LetterTokenizer>(50));
  EXPECT_EQ(Compute::Create(vocabulary, 1).status().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kvasir
