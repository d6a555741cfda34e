#include "model/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "test_model.h"

namespace kvasir {
namespace {

class DecoderTest : public ::testing::Test {
 protected:
  void Reset(KvType type = KvType::kF32, int threads = 1, int64_t capacity = 64) {
    pool_ = std::make_unique<ThreadPool>(threads);
    Result<KvCaches> caches =
        MakeKvCaches(config_, {.type = type, .capacity = capacity, .sliding = sliding_});
    ASSERT_TRUE(caches.ok()) << caches.status().message();
    caches_ = *std::move(caches);
    Result<DecoderWorkspace> workspace = DecoderWorkspace::Create(config_, 64, pool_->size());
    ASSERT_TRUE(workspace.ok()) << workspace.status().message();
    workspace_ = std::make_unique<DecoderWorkspace>(*std::move(workspace));
  }

  Status Forward(std::span<const int32_t> tokens, int64_t start, LogitRows rows,
                 std::span<float> logits) {
    return Decoder(config_, weights_, *pool_, sliding_)
        .Forward(tokens, start, caches_, *workspace_, rows, logits);
  }

  // Logits of all rows, run in chunks of `chunk`.
  std::vector<float> AllLogits(std::span<const int32_t> tokens, size_t chunk) {
    const size_t vocab = static_cast<size_t>(config_.vocab_size);
    std::vector<float> logits(tokens.size() * vocab);
    for (size_t done = 0; done < tokens.size(); done += chunk) {
      const auto part = tokens.subspan(done, std::min(chunk, tokens.size() - done));
      const Status status = Forward(part, static_cast<int64_t>(done), LogitRows::kAll,
                                    std::span(logits).subspan(done * vocab));
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return logits;
  }

  static float LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  }

  ModelConfig config_ = SmallConfig();
  Weights weights_ = RandomWeights(config_, 1);
  std::vector<int32_t> tokens_ = RandomTokens(40, config_.vocab_size, 2);
  std::unique_ptr<ThreadPool> pool_;
  SlidingWindow sliding_ = {.window = 0};
  KvCaches caches_;
  std::unique_ptr<DecoderWorkspace> workspace_;
};

TEST_F(DecoderTest, ChunkedPrefillEqualsOneShot) {
  Reset();
  const std::vector<float> whole = AllLogits(tokens_, tokens_.size());
  for (size_t chunk : {1u, 3u, 7u, 39u}) {
    Reset();
    EXPECT_LT(LargestDifference(AllLogits(tokens_, chunk), whole), 2e-5f) << "chunk " << chunk;
  }
}

TEST_F(DecoderTest, LastRowLogitsAreTheLastOfAllRows) {
  Reset();
  const std::vector<float> all = AllLogits(tokens_, tokens_.size());
  Reset();
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  std::vector<float> last(vocab);
  ASSERT_TRUE(Forward(tokens_, 0, LogitRows::kLast, last).ok());
  EXPECT_EQ(0, std::memcmp(last.data(), all.data() + (tokens_.size() - 1) * vocab,
                           vocab * sizeof(float)));
}

TEST_F(DecoderTest, ThreadsChangeNothingBeyondRounding) {
  Reset(KvType::kF32, 1);
  const std::vector<float> one = AllLogits(tokens_, 13);
  for (int threads : {2, 3}) {
    Reset(KvType::kF32, threads);
    EXPECT_LT(LargestDifference(AllLogits(tokens_, 13), one), 2e-5f) << threads << " threads";
  }
}

TEST_F(DecoderTest, HalfPrecisionCacheStaysClose) {
  Reset(KvType::kF32);
  const std::vector<float> full = AllLogits(tokens_, 8);
  Reset(KvType::kF16);
  const std::vector<float> half = AllLogits(tokens_, 8);
  EXPECT_LT(LargestDifference(half, full), 5e-2f);
  EXPECT_GT(LargestDifference(half, full), 0.0f) << "the f16 cache was not used";
}

TEST_F(DecoderTest, EarlierTokensAreSeenAndLaterOnesAreNot) {
  Reset();
  const std::vector<float> before = AllLogits(tokens_, tokens_.size());
  std::vector<int32_t> changed = tokens_;
  changed[20] = (changed[20] + 1) % static_cast<int32_t>(config_.vocab_size);
  Reset();
  const std::vector<float> after = AllLogits(changed, changed.size());
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  EXPECT_EQ(0, std::memcmp(before.data(), after.data(), 20 * vocab * sizeof(float)))
      << "a row saw a later token";
  for (size_t row = 20; row < tokens_.size(); ++row) {
    EXPECT_NE(0, std::memcmp(before.data() + row * vocab, after.data() + row * vocab,
                             vocab * sizeof(float)))
        << "row " << row << " did not see token 20";
  }
}

TEST_F(DecoderTest, RewritingFromAnEarlierPositionEqualsAFreshRun) {
  Reset();
  const std::vector<float> fresh = AllLogits(tokens_, 5);
  Reset();
  AllLogits(RandomTokens(40, config_.vocab_size, 9), 11);
  EXPECT_EQ(0,
            std::memcmp(AllLogits(tokens_, 5).data(), fresh.data(), fresh.size() * sizeof(float)));
}

// In a model of one layer, keys and values depend on their own token only. So a
// token behind a sink and a window must say what it says at the end of a text of
// nothing but those tokens, at positions from 0 on.
TEST_F(DecoderTest, ASinkStandsRightBeforeTheWindow) {
  config_.layers = 1;
  weights_ = RandomWeights(config_, 1);
  constexpr int64_t kWindow = 9, kSink = 3;
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  for (size_t chunk : {1u, 5u, 12u}) {
    sliding_ = {.window = kWindow, .sink = kSink, .chunk = static_cast<int64_t>(chunk)};
    Reset();
    const std::vector<float> windowed = AllLogits(tokens_, chunk);
    sliding_ = {.window = 0};
    for (int64_t p = 0; p < static_cast<int64_t>(tokens_.size()); ++p) {
      const int64_t begin = std::max<int64_t>(0, p + 1 - kWindow);
      std::vector<int32_t> seen(tokens_.begin(), tokens_.begin() + std::min(begin, kSink));
      seen.insert(seen.end(), tokens_.begin() + begin, tokens_.begin() + p + 1);
      Reset();
      const std::vector<float> alone = AllLogits(seen, seen.size());
      for (size_t i = 0; i < vocab; ++i) {
        ASSERT_NEAR(windowed[static_cast<size_t>(p) * vocab + i],
                    alone[(seen.size() - 1) * vocab + i], 1e-4f)
            << "chunk " << chunk << ", position " << p;
      }
    }
  }
}

// A model of sliding layers must say what the same model says in a session with
// that window: of the model's own window and the session's the smaller one counts,
// and a sink is seen where it lies within.
TEST_F(DecoderTest, ASlidingLayerSeesItsOwnWindowOfTheSessions) {
  struct Case {
    int64_t own;                   // window of the model's layers
    SlidingWindow session, equal;  // equal: in a model without sliding layers
  };
  const Case cases[] = {
      {7, {.window = 0}, {.window = 7}},
      {7, {.window = 9, .sink = 3}, {.window = 7}},
      {7, {.window = 4, .sink = 3}, {.window = 4, .sink = 3}},
      {7, {.window = 5, .sink = 3}, {.window = 5}},
      {30, {.window = 9, .sink = 3}, {.window = 9, .sink = 3}},
  };
  for (const auto& [own, session, equal] : cases) {
    for (int64_t chunk : {1, 6}) {
      config_.sliding_window = 0;
      sliding_ = equal;
      sliding_.chunk = chunk;
      Reset();
      const std::vector<float> expected = AllLogits(tokens_, static_cast<size_t>(chunk));
      config_.sliding_window = own;  // with a period of 0: every layer slides
      sliding_ = session;
      sliding_.chunk = chunk;
      Reset();
      const std::vector<float> logits = AllLogits(tokens_, static_cast<size_t>(chunk));
      EXPECT_LT(LargestDifference(logits, expected), 2e-5f)
          << "own " << own << ", window " << session.window << ", chunk " << chunk;
    }
  }
}

TEST_F(DecoderTest, OnlyTheLayersThatSlideForget) {
  config_.sliding_window = 3;
  const auto last_row_sees_first_token = [&](int64_t period) {
    config_.sliding_period = period;
    std::vector<int32_t> changed = tokens_;
    changed[0] = (changed[0] + 1) % static_cast<int32_t>(config_.vocab_size);
    Reset();
    const std::vector<float> before = AllLogits(tokens_, tokens_.size());
    Reset();
    const std::vector<float> after = AllLogits(changed, changed.size());
    const size_t vocab = static_cast<size_t>(config_.vocab_size);
    return std::memcmp(before.data() + before.size() - vocab, after.data() + after.size() - vocab,
                       vocab * sizeof(float)) != 0;
  };
  EXPECT_FALSE(last_row_sees_first_token(0));
  EXPECT_TRUE(last_row_sees_first_token(2)) << "the second layer sees all";
  EXPECT_FALSE(last_row_sees_first_token(3)) << "the third would, but there are two";
}

TEST_F(DecoderTest, BadInputIsRefusedAndChangesNothing) {
  Reset(KvType::kF32, 1, 16);
  std::vector<float> logits(64 * static_cast<size_t>(config_.vocab_size));
  const auto first = std::span(tokens_).first(10);
  ASSERT_TRUE(Forward(first, 0, LogitRows::kNone, {}).ok());

  const std::vector<int32_t> outside = {1, static_cast<int32_t>(config_.vocab_size)};
  EXPECT_EQ(Forward(outside, 10, LogitRows::kNone, {}).code(), ErrorCode::kInvalidArgument);
  const std::vector<int32_t> negative = {-1};
  EXPECT_EQ(Forward(negative, 10, LogitRows::kNone, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Forward({}, 10, LogitRows::kNone, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Forward(first, 11, LogitRows::kNone, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Forward(first, -1, LogitRows::kNone, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Forward(first, 10, LogitRows::kNone, {}).code(), ErrorCode::kContextOverflow);
  EXPECT_EQ(Forward(first, 0, LogitRows::kAll, std::span(logits).first(9)).code(),
            ErrorCode::kInvalidArgument);
  for (const auto& cache : caches_) EXPECT_EQ(cache->length(), 10);
}

}  // namespace
}  // namespace kvasir
