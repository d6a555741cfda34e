// What the KV caches and SDPA cost: a JSON object on stdout.
// Usage: attention_bench [THREADS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "attention/kv_cache.h"
#include "attention/sdpa.h"
#include "bench/bench_data.h"
#include "bench/timing.h"
#include "cpp/model/test_model.h"
#include "cpp/runtime/letter_tokenizer.h"
#include "runtime/session.h"
#include "simd/simd.h"

namespace kvasir {
namespace {

constexpr KvType kTypes[] = {KvType::kF32, KvType::kF16, KvType::kI8};

// Llama 3.2 1B.
constexpr int64_t kQueryHeads = 32, kKvHeads = 8, kHeadDim = 64, kLayers = 16;
constexpr int64_t kDepth = 4000;
constexpr int kRounds = 15;

void Report(const std::string& name, double value) {
  static bool first = true;
  std::printf("%s\n  \"%s\": %.6g", first ? "{" : ",", name.c_str(), value);
  first = false;
}

// Fills positions [0, length) with rows that repeat.
void Fill(KvCache& cache, int64_t kv_heads, int64_t dim, int64_t length) {
  constexpr int64_t kRows = 250;
  const std::vector<float> k = Random(kRows * kv_heads * dim, 1);
  const std::vector<float> v = Random(kRows * kv_heads * dim, 2);
  for (int64_t start = 0; start < length; start += kRows) {
    const int64_t rows = std::min(kRows, length - start);
    Need(cache.Update(start, HeadsOfRows(k.data(), kv_heads, rows, dim),
                      HeadsOfRows(v.data(), kv_heads, rows, dim)));
  }
}

// One decode step's attention through all layers.
class Attention {
 public:
  Attention(KvType type, int64_t layers, int64_t capacity, ThreadPool& pool)
      : pool_(pool), scratch_(Need(SdpaScratch::Create(pool.size(), kQueryHeads, kHeadDim))) {
    for (int64_t i = 0; i < layers; ++i) {
      caches_.push_back(Need(MakeFlatKvCache(type, {kKvHeads, kHeadDim, capacity})));
      Fill(*caches_.back(), kKvHeads, kHeadDim, capacity);
    }
  }

  void Step(int64_t depth) {
    SdpaOptions options;
    options.scale = 0.125f;
    MaskRule mask;
    mask.causal = true;
    mask.start = depth - 1;
    const View4<const float> q = HeadsOfRows(q_.data(), kQueryHeads, 1, kHeadDim);
    const View4<float> out = HeadsOfRows(out_.data(), kQueryHeads, 1, kHeadDim);
    for (const auto& cache : caches_) {
      Need(Sdpa(q, cache->Runs(), mask, options, out, pool_, scratch_));
    }
  }

  int64_t bytes() const {
    int64_t bytes = 0;
    for (const auto& cache : caches_) bytes += cache->bytes();
    return bytes;
  }

  // Reads the rows of every cache and does nothing with them.
  uint64_t Read() const {
    std::atomic<uint64_t> total{0};
    const hn::ScalableTag<uint64_t> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (const auto& cache : caches_) {
      const KvRuns runs = cache->Runs();
      for (const KvRows* rows : {&runs.run[0].k, &runs.run[0].v}) {
        const int64_t words = cache->bytes() / 2 / 8 / (4 * lanes) * (4 * lanes);
        const auto* data = static_cast<const uint64_t*>(rows->data);
        const int64_t blocks = std::min(words, rows->stride[0] / 8) / (4 * lanes);
        pool_.ParallelFor(blocks, blocks / pool_.size(), [&](int64_t begin, int64_t end, int) {
          auto a = hn::Zero(d), b = a, c = a, e = a;
          for (int64_t i = begin; i < end; ++i) {
            const uint64_t* at = data + i * 4 * lanes;
            a = hn::Xor(a, hn::LoadU(d, at));
            b = hn::Xor(b, hn::LoadU(d, at + lanes));
            c = hn::Xor(c, hn::LoadU(d, at + 2 * lanes));
            e = hn::Xor(e, hn::LoadU(d, at + 3 * lanes));
          }
          total += hn::ReduceSum(d, hn::Xor(hn::Xor(a, b), hn::Xor(c, e)));
        });
      }
    }
    return total;
  }
  // What Read reads, for an i8 cache: all but scales and zero points.
  int64_t row_bytes() const { return kLayers * 2 * kKvHeads * kDepth * kHeadDim; }

 private:
  ThreadPool& pool_;
  SdpaScratch scratch_;
  std::vector<std::unique_ptr<KvCache>> caches_;
  std::vector<float> q_ = Random(kQueryHeads * kHeadDim, 3);
  std::vector<float> out_ = std::vector<float>(q_.size());
};

const char* Name(KvType type) {
  return type == KvType::kF32 ? "f32" : type == KvType::kF16 ? "f16" : "i8";
}

void CompareTypes(ThreadPool& pool) {
  std::map<KvType, std::unique_ptr<Attention>> attention;
  std::vector<std::function<void()>> contenders;
  for (KvType type : kTypes) {
    attention[type] = std::make_unique<Attention>(type, kLayers, kDepth, pool);
    contenders.push_back([&, type] { attention[type]->Step(kDepth); });
  }
  volatile uint64_t sink = 0;
  contenders.push_back([&] { sink = sink + attention[KvType::kI8]->Read(); });
  const auto times = SideBySide(kRounds, contenders);
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    const std::string name = Name(kTypes[i]);
    const double bytes = static_cast<double>(attention[kTypes[i]]->bytes());
    Report("bytes_by_f32_" + name, bytes / static_cast<double>(attention[KvType::kF32]->bytes()));
    Report("speed_by_f32_" + name, MedianRatio(times[0], times[i]));
    Report("sdpa_gb_per_s_" + name, bytes / Median(times[i]) / 1e6);
  }
  const double read = static_cast<double>(attention[KvType::kI8]->row_bytes());
  const double all = static_cast<double>(attention[KvType::kI8]->bytes());
  Report("read_gb_per_s", read / Median(times[3]) / 1e6);
  Report("i8_sdpa_by_read_bandwidth", MedianRatio(times[3], times[2]) * all / read);
}

void MeasureDepths(ThreadPool& pool) {
  constexpr int64_t kDepths[] = {1000, 2000, 4000, 8000};
  Attention attention(KvType::kI8, 4, 8000, pool);
  std::vector<std::function<void()>> contenders;
  for (int64_t depth : kDepths)
    contenders.push_back([&attention, depth] { attention.Step(depth); });
  auto times = SideBySide(kRounds, contenders);
  for (size_t i = 0; i < std::size(kDepths); ++i) {
    const double deeper = static_cast<double>(kDepths[i]) / 4000;
    Report("cost_per_token_by_depth_4000_at_" + std::to_string(kDepths[i]),
           MedianRatio(times[i], times[2]) / deeper);
  }
  // Around the borders of tiles and far from them.
  contenders.clear();
  for (int64_t depth = 4030; depth <= 4100; ++depth) {
    contenders.push_back([&attention, depth] { attention.Step(depth); });
  }
  times = SideBySide(kRounds, contenders);
  double least = 1e9, most = 0;
  for (const auto& of_depth : times) {
    const double time = *std::min_element(of_depth.begin(), of_depth.end());
    least = std::min(least, time);
    most = std::max(most, time);
  }
  Report("slowest_by_fastest_step_of_depths_4030_to_4100", most / least);
}

// Six layers of SmolLM2-135M in Q8_0, with a small vocabulary.
ModelConfig SmolLayers() {
  ModelConfig config = SmallConfig();
  config.vocab_size = 2048;
  config.context_length = 8192;
  config.dim = 576;
  config.layers = 6;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_dim = 64;
  config.ffn_dim = 1536;
  config.rope.dims = 64;
  return config;
}

// Random weights, matrices in Q8_0.
Weights QuantizedWeights(const ModelConfig& config) {
  std::mt19937 random(1);
  WeightsBuilder builder(config);
  for (TensorInfo info : RequiredTensors(config)) {
    if (info.shape[1] == 1) {
      Need(AddRandom(builder, info, random));
      continue;
    }
    info.type = TensorType::kQ8_0;
    info.bytes = static_cast<uint64_t>(info.shape[1] * RowBytes(info.type, info.shape[0]));
    const std::span<uint8_t> bytes = Need(builder.Begin(info));
    constexpr uint16_t kScale = 0x1000;  // 2^-11
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<uint8_t>(random() | 1);
    for (size_t at = 0; at < bytes.size(); at += 34) std::memcpy(&bytes[at], &kScale, 2);
    Need(builder.End(info));
  }
  return Need(builder.Finish());
}

void MeasureSessions(int threads) {
  const ModelConfig config = SmolLayers();
  const auto model = std::make_shared<const Model>(
      ModelDescription{},
      std::make_unique<LetterTokenizer>(static_cast<int32_t>(config.vocab_size)), config,
      QuantizedWeights(config), std::map<TensorType, TypeUse>{}, 1);
  const std::shared_ptr<Compute> compute = Need(Compute::Create(*model, threads));
  const auto run = [&](Session& session, const std::vector<int32_t>& tokens) {
    for (size_t done = 0; done < tokens.size(); done += kPrefillChunk) {
      const size_t rows = std::min<size_t>(kPrefillChunk, tokens.size() - done);
      Need(session.Append(std::span(tokens).subspan(done, rows), LogitRows::kNone, {}));
    }
  };
  const std::vector<int32_t> text = RandomTokens(2000, config.vocab_size, 1);
  const std::vector<int32_t> hundred = RandomTokens(100, config.vocab_size, 2);
  for (KvType type : kTypes) {
    const SessionOptions options = {.context_length = 8192, .kv_type = type};
    const auto session = Need(Session::Create(model, options, compute));
    run(*session, text);
    const auto other = Need(Session::Create(model, options, compute));
    const auto times = SideBySide(5, {[&] {
                                        const AlignedBuffer saved = Need(session->Save());
                                        Need(Session::Restore(model, saved.bytes(), compute));
                                      },
                                      [&] { Need(session->Fork()); },
                                      [&] {
                                        other->Clear();
                                        run(*other, hundred);
                                      }});
    Report(std::string("save_and_restore_2000_by_prefill_100_") + Name(type),
           MedianRatio(times[0], times[2]));
    Report(std::string("fork_2000_by_prefill_100_") + Name(type), MedianRatio(times[1], times[2]));
  }

  // A whole decode step at depth 4000.
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<KvCaches> caches;
  std::vector<std::function<void()>> contenders;
  const Decoder decoder(config, model->weights(), compute->pool);
  caches.reserve(std::size(kTypes));
  for (KvType type : kTypes) {
    caches.push_back(Need(MakeKvCaches(config, {.type = type, .capacity = 4100, .sliding = {}})));
    for (const auto& cache : caches.back()) Fill(*cache, config.kv_heads, config.head_dim, kDepth);
    KvCaches& filled = caches.back();
    contenders.push_back([&] {
      const int32_t token = 7;
      std::vector<float> logits(static_cast<size_t>(config.vocab_size));
      Need(decoder.Forward(std::span(&token, 1), kDepth, filled, compute->workspace,
                           LogitRows::kLast, logits));
    });
  }
  const auto times = SideBySide(kRounds, contenders);
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    Report(std::string("decode_speed_by_f32_at_4000_") + Name(kTypes[i]),
           MedianRatio(times[0], times[i]));
  }
}

}  // namespace
}  // namespace kvasir

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  {
    kvasir::ThreadPool pool(threads);
    kvasir::CompareTypes(pool);
    kvasir::MeasureDepths(pool);
  }
  kvasir::MeasureSessions(threads);
  std::printf("\n}\n");
  return 0;
}
