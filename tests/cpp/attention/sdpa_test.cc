#include "attention/sdpa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "attention/kv_cache.h"
#include "cache_rows.h"
#include "naive_attention.h"

namespace kvasir {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// One attention problem: S query rows over S_kv keys in a flat cache.
struct Problem {
  int64_t query_heads = 4, kv_heads = 2, dim = 16, seq = 1, kv_seq = 1;
  KvType type = KvType::kF32;
  int threads = 1;
  MaskRule mask;
  float soft_cap = 0;
  bool rounded = true;
  std::vector<float>* sink_query = nullptr;
  uint32_t seed = 1;

  std::vector<float> q, k, v, out;
  Result<int64_t> blind = int64_t{0};

  void MakeData() {
    q = RandomRows(query_heads * seq * dim, seed);
    k = RandomRows(kv_heads * kv_seq * dim, seed + 1);
    v = RandomRows(kv_heads * kv_seq * dim, seed + 2);
    if (!rounded) return;
    RoundRows(type, k, dim);  // so that the cache stores them exactly
    RoundRows(type, v, dim);
  }

  View4<float> Dense(std::vector<float>& data, int64_t heads, int64_t rows) const {
    return {data.data(), {1, heads, rows, dim}, {heads * rows * dim, rows * dim, dim, 1}};
  }

  void Run() {
    auto cache = MakeFlatKvCache(type, {kv_heads, dim, kv_seq + 5});
    ASSERT_TRUE(cache.ok()) << cache.status().message();
    const Status stored =
        (*cache)->Update(0, Dense(k, kv_heads, kv_seq), Dense(v, kv_heads, kv_seq));
    ASSERT_TRUE(stored.ok()) << stored.message();
    RunOver((*cache)->Runs());
  }

  void RunOver(const KvRuns& runs) {
    ThreadPool pool(threads);
    Result<SdpaScratch> scratch = SdpaScratch::Create(pool.size(), query_heads, dim);
    ASSERT_TRUE(scratch.ok());
    out.assign(q.size(), std::numeric_limits<float>::quiet_NaN());
    SdpaOptions options;
    options.scale = Scale();
    options.soft_cap = soft_cap;
    View4<const float> at_sink;
    if (sink_query != nullptr) {
      at_sink = Dense(*sink_query, query_heads, seq);
      options.sink_query = &at_sink;
    }
    blind = Sdpa(Dense(q, query_heads, seq), runs, mask, options, Dense(out, query_heads, seq),
                 pool, *scratch);
    ASSERT_TRUE(blind.ok()) << blind.status().message();
  }

  float Scale() const { return 1.0f / std::sqrt(static_cast<float>(dim)); }

  std::vector<double> Expected() const {
    NaiveAttention naive{query_heads, kv_heads, seq, kv_seq, dim, Scale(), soft_cap, mask};
    return naive.Run(q, k, v);
  }

  void ExpectRight() {
    const double tolerance =
        rounded ? (type == KvType::kI8 ? 1e-4 : 1e-5) : (type == KvType::kI8 ? 2e-2 : 1e-3);
    const std::vector<double> expected = Expected();
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_NEAR(out[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
          << "head " << i / static_cast<size_t>(seq * dim) << ", row "
          << i / static_cast<size_t>(dim) % static_cast<size_t>(seq) << "; S " << seq << ", S_kv "
          << kv_seq << ", H " << query_heads << "/" << kv_heads << ", D " << dim;
    }
  }

  void RunCausal(int64_t start) {
    kv_seq = start + seq;
    mask.causal = true;
    mask.start = start;
    MakeData();
    Run();
    if (!::testing::Test::HasFatalFailure()) ExpectRight();
  }
};

TEST(SdpaTest, CausalAttentionIsRightForEveryLengthAndStart) {
  for (KvType type : kAllKvTypes) {
    for (int64_t seq : {1, 2, 3, 63, 64, 65, 130}) {
      for (int64_t start : {0, 1, 63, 64, 65, 200}) {
        Problem problem;
        problem.type = type;
        problem.seq = seq;
        problem.RunCausal(start);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SdpaTest, EveryHeadDimensionAndGroupIsRight) {
  for (KvType type : kAllKvTypes) {
    for (int64_t dim : {1, 4, 7, 16, 17, 64, 80, 128, 256}) {
      for (int64_t group : {1, 2, 4, 7, 8, 71}) {
        for (int64_t seq : {1, 9}) {
          Problem problem;
          problem.type = type;
          problem.dim = dim;
          problem.kv_heads = 2;
          problem.query_heads = 2 * group;
          problem.seq = seq;
          problem.RunCausal(70);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Against keys and values as they were before they were stored.
TEST(SdpaTest, RoundingOfTheCacheStaysSmall) {
  for (KvType type : {KvType::kF16, KvType::kI8}) {
    for (int64_t dim : {16, 64, 80, 128}) {
      Problem problem;
      problem.type = type;
      problem.rounded = false;
      problem.dim = dim;
      problem.seq = 7;
      problem.RunCausal(500);
      if (HasFatalFailure()) return;
    }
  }
}

// Starts at which other implementations went wrong: just beyond a tile.
TEST(SdpaTest, DecodeRightAfterALongPrefillIsRight) {
  for (KvType type : kAllKvTypes) {
    for (int64_t start : {511, 512, 513, 1023, 1024}) {
      for (int threads : {1, 2, 4}) {
        Problem problem;
        problem.type = type;
        problem.threads = threads;
        problem.RunCausal(start);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SdpaTest, ACausalFillInsideAPartialTileIsRight) {
  for (KvType type : kAllKvTypes) {
    Problem problem;
    problem.type = type;
    problem.seq = 127;
    problem.RunCausal(508);
  }
}

TEST(SdpaTest, ThreadsChangeNothingBeyondRoundingAndRunsRepeatExactly) {
  for (int64_t seq : {1, 40}) {
    Problem one;
    one.seq = seq;
    one.dim = 64;
    one.kv_heads = 1;
    one.RunCausal(900);
    for (int threads : {2, 3, 4}) {
      Problem many = one;
      many.threads = threads;
      many.Run();
      for (size_t i = 0; i < one.out.size(); ++i) ASSERT_NEAR(many.out[i], one.out[i], 1e-6);
      const std::vector<float> first = many.out;
      many.Run();
      EXPECT_EQ(0, std::memcmp(first.data(), many.out.data(), first.size() * sizeof(float)));
    }
  }
}

TEST(SdpaTest, PermutingHeadsPermutesTheOutput) {
  Problem problem;
  problem.RunCausal(20);
  const std::vector<float> before = problem.out;
  const size_t half = problem.k.size() / 2;
  std::swap_ranges(problem.k.begin(), problem.k.begin() + static_cast<ptrdiff_t>(half),
                   problem.k.begin() + static_cast<ptrdiff_t>(half));
  problem.Run();
  problem.ExpectRight();
  EXPECT_NE(before, problem.out) << "the heads of K made no difference";
}

TEST(SdpaTest, ASlidingWindowSeesTheLastKeysOnly) {
  for (int64_t window : {1, 5, 60, 64, 1000}) {
    for (int64_t start : {0, 30, 575}) {
      for (KvType type : kAllKvTypes) {
        Problem problem;
        problem.type = type;
        problem.seq = 70;
        problem.mask.window = window;
        problem.RunCausal(start);
        EXPECT_EQ(*problem.blind, 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SdpaTest, RangesPerRowAndRowsThatSeeNothing) {
  Problem problem;
  problem.seq = 5;
  problem.kv_seq = 150;
  problem.MakeData();
  const std::vector<KeyRange> ranges = {{0, 150}, {10, 10}, {64, 128}, {149, 150}, {200, 300}};
  problem.mask.ranges = ranges;
  problem.Run();
  problem.ExpectRight();
  EXPECT_EQ(*problem.blind, 2 * problem.query_heads);
  for (int64_t h = 0; h < problem.query_heads; ++h) {
    for (int64_t row : {1, 4}) {
      for (int64_t d = 0; d < problem.dim; ++d) {
        EXPECT_EQ(problem.out[static_cast<size_t>((h * problem.seq + row) * problem.dim + d)],
                  0.0f);
      }
    }
  }
}

TEST(SdpaTest, ABiasIsAddedPerHeadAndMinusInfinityHides) {
  Problem problem;
  problem.seq = 3;
  problem.kv_seq = 140;
  problem.MakeData();
  std::vector<float> bias = RandomRows(problem.query_heads * problem.seq * problem.kv_seq, 77);
  for (size_t i = 0; i < bias.size(); i += 3) bias[i] = kMinusInfinity;
  std::fill_n(bias.begin() + 140, 140, kMinusInfinity);  // head 0, row 1 sees nothing
  problem.mask.bias.data = bias.data();
  problem.mask.bias.head_stride = problem.seq * problem.kv_seq;
  problem.mask.bias.row_stride = problem.kv_seq;
  problem.Run();
  problem.ExpectRight();
  EXPECT_EQ(*problem.blind, 1);
}

TEST(SdpaTest, ABooleanMaskHidesKeysPerHead) {
  for (KvType type : kAllKvTypes) {
    Problem problem;
    problem.type = type;
    problem.seq = 3;
    problem.kv_seq = 140;
    problem.MakeData();
    const std::vector<float> noise =
        RandomRows(problem.query_heads * problem.seq * problem.kv_seq, 78);
    std::vector<uint8_t> visible;
    for (float value : noise) visible.push_back(value > 0 ? 1 : 0);
    std::fill_n(visible.begin() + 280, 140, uint8_t{0});  // head 0, row 2 sees nothing
    problem.mask.visible = {visible.data(), problem.seq * problem.kv_seq, problem.kv_seq};
    problem.Run();
    problem.ExpectRight();
    EXPECT_EQ(*problem.blind, 1);
  }
}

TEST(SdpaTest, AMaskMaySeeBeyondTheQueriesOwnPosition) {
  Problem problem;
  problem.seq = 2;
  problem.kv_seq = 100;
  problem.mask.start = 10;
  problem.MakeData();
  const std::vector<float> bias = RandomRows(2 * 100, 79);
  problem.mask.bias = {bias.data(), 0, 100};
  problem.Run();
  problem.ExpectRight();
}

TEST(SdpaTest, RulesCompose) {
  Problem problem;
  problem.seq = 50;
  problem.mask.window = 30;
  std::vector<KeyRange> ranges;
  for (int64_t r = 0; r < 50; ++r) ranges.push_back({r, 100 + 2 * (r % 7)});
  problem.mask.ranges = ranges;
  problem.RunCausal(80);
}

TEST(SdpaTest, SoftCapBoundsTheScores) {
  Problem problem;
  problem.soft_cap = 0.5f;
  problem.seq = 4;
  problem.RunCausal(90);
}

TEST(SdpaTest, LargeScoresDoNotOverflow) {
  Problem problem;
  problem.seq = 3;
  problem.kv_seq = 100;
  problem.MakeData();
  for (float& value : problem.q) value *= 100.0f;
  for (float& value : problem.k) value *= 100.0f;
  problem.Run();
  for (float value : problem.out) ASSERT_TRUE(std::isfinite(value));
  problem.ExpectRight();
}

TEST(SdpaTest, NoKeysGiveZeros) {
  Problem problem;
  problem.seq = 2;
  problem.MakeData();
  problem.RunOver(KvRuns());
  EXPECT_EQ(*problem.blind, 2 * problem.query_heads);
  EXPECT_EQ(problem.out, std::vector<float>(problem.out.size(), 0.0f));
}

TEST(SdpaTest, ASinkIsSeenBesideTheWindow) {
  for (KvType type : kAllKvTypes) {
    for (int64_t sink : {1, 4, 70}) {
      for (int64_t seq : {1, 70}) {
        Problem problem;
        problem.type = type;
        problem.seq = seq;
        problem.threads = 3;
        problem.mask.window = 20;
        problem.mask.sink = sink;
        for (int64_t start : {0, 3, 75, 300}) problem.RunCausal(start);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A cache that slides under the window of its queries: chunks of every size,
// each compared with attention over all keys under a mask.
TEST(SdpaTest, ASlidingCacheGivesWhatAWindowOverAllKeysGives) {
  for (KvType type : kAllKvTypes) {
    for (int64_t window : {1, 8, 60}) {
      for (int64_t sink : {0, 3}) {
        for (int64_t chunk : {window - 1, window, window + 1, 2 * window}) {
          if (chunk < 1) continue;
          Problem all;
          all.type = type;
          all.mask.window = window;
          all.mask.sink = sink;
          all.kv_seq = 4 * window + 2 * chunk + 5;
          all.seq = all.kv_seq;
          all.mask.causal = true;
          all.MakeData();
          const std::vector<double> expected = all.Expected();
          auto cache = MakeSlidingKvCache(type, {all.kv_heads, all.dim, all.kv_seq},
                                          {.window = window, .sink = sink, .chunk = chunk});
          ASSERT_TRUE(cache.ok()) << cache.status().message();
          for (int64_t start = 0; start < all.kv_seq; start += chunk) {
            Problem part = all;
            part.seq = std::min(chunk, all.kv_seq - start);
            part.mask.start = start;
            const auto rows_of = [&](std::vector<float>& data, int64_t heads) {
              View4<float> view = all.Dense(data, heads, all.kv_seq);
              view.data += start * all.dim;
              view.size[2] = part.seq;
              return view;
            };
            ASSERT_TRUE(
                (*cache)
                    ->Update(start, rows_of(all.k, all.kv_heads), rows_of(all.v, all.kv_heads))
                    .ok());
            part.q.clear();
            for (int64_t h = 0; h < all.query_heads; ++h) {
              const auto row = all.q.begin() + (h * all.kv_seq + start) * all.dim;
              part.q.insert(part.q.end(), row, row + part.seq * all.dim);
            }
            part.RunOver((*cache)->Runs());
            for (int64_t h = 0; h < all.query_heads; ++h) {
              for (int64_t i = 0; i < part.seq * all.dim; ++i) {
                ASSERT_NEAR(part.out[static_cast<size_t>(h * part.seq * all.dim + i)],
                            expected[static_cast<size_t>((h * all.kv_seq + start) * all.dim + i)],
                            1e-4)
                    << KvTypeText(type) << ", window " << window << ", sink " << sink << ", chunk "
                    << chunk << ", start " << start << ", head " << h;
              }
            }
          }
        }
      }
    }
  }
}

TEST(SdpaTest, KeysOfTheSinkMeetTheirOwnQueries) {
  Problem problem;
  problem.seq = 2;
  problem.kv_seq = 90;
  problem.mask.causal = true;
  problem.mask.start = 88;
  problem.mask.window = 30;
  problem.mask.sink = 5;
  problem.MakeData();
  // Turned queries against the sink equal the plain ones against turned keys: here
  // the turn is a change of sign, which K of the sink undoes.
  Problem turned = problem;
  std::vector<float> other(problem.q.size());
  for (size_t i = 0; i < other.size(); ++i) other[i] = -problem.q[i];
  turned.sink_query = &other;
  turned.Run();
  for (int64_t h = 0; h < problem.kv_heads; ++h) {
    for (int64_t i = 0; i < 5 * problem.dim; ++i) {
      float& value = problem.k[static_cast<size_t>(h * problem.kv_seq * problem.dim + i)];
      value = -value;
    }
  }
  const std::vector<double> expected = problem.Expected();
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(turned.out[i], expected[i], 1e-5);
}

// Several runs, as a ring buffer has them.
TEST(SdpaTest, KeysInSeveralRunsAreOneSequence) {
  Problem problem;
  problem.seq = 3;
  problem.RunCausal(117);
  const std::vector<float> whole = problem.out;
  KvRuns runs;
  const int64_t starts[] = {0, 30, 101, 120};
  for (int i = 0; i < 3; ++i) {
    const auto rows = [&](const std::vector<float>& data) {
      KvRows view;
      view.data = data.data() + starts[i] * problem.dim;
      view.size = {1, problem.kv_heads, starts[i + 1] - starts[i], problem.dim};
      view.stride = {problem.kv_heads * problem.kv_seq * problem.dim, problem.kv_seq * problem.dim,
                     problem.dim, 1};
      return view;
    };
    runs.run[static_cast<size_t>(i)] = {rows(problem.k), rows(problem.v), starts[i]};
  }
  runs.count = 3;
  problem.RunOver(runs);
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(problem.out[i], whole[i], 1e-6);
}

TEST(SdpaTest, ShapesThatDoNotFitAreRefused) {
  Problem problem;
  problem.kv_seq = 4;
  problem.MakeData();
  problem.Run();
  auto cache = MakeFlatKvCache(KvType::kF32, {2, 16, 4});
  ASSERT_TRUE(
      (*cache)->Update(0, problem.Dense(problem.k, 2, 4), problem.Dense(problem.v, 2, 4)).ok());
  ThreadPool pool(1);
  Result<SdpaScratch> scratch = SdpaScratch::Create(1, 4, 16);
  std::vector<float> out(problem.q.size());
  const auto code = [&](auto change) {
    View4<const float> q = problem.Dense(problem.q, 4, 1);
    View4<float> to = problem.Dense(out, 4, 1);
    MaskRule mask;
    SdpaOptions options;
    options.scale = 1;
    change(q, to, mask, options);
    return Sdpa(q, (*cache)->Runs(), mask, options, to, pool, *scratch).status().code();
  };
  const std::vector<KeyRange> two(2);
  EXPECT_EQ(code([](auto&, auto&, auto&, auto&) {}), ErrorCode::kOk);
  EXPECT_EQ(code([](auto&, auto& to, auto&, auto&) { to.size[1] = 2; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& q, auto& to, auto&, auto&) { q.size[1] = to.size[1] = 3; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& q, auto& to, auto&, auto&) { q.size[3] = to.size[3] = 8; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& q, auto& to, auto&, auto&) { q.size[0] = to.size[0] = 2; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto&, auto&, auto&, auto& o) { o.scale = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([&](auto&, auto&, auto& mask, auto&) { mask.ranges = two; }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kvasir
