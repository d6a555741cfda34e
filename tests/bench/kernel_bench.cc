// How fast the kernels are, and how fast memory can be read here: Google Benchmark's
// options. Names are KERNEL/TYPE/THREADS, with the number of inputs for GEMM and the
// depth for SDPA before the threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "attention/kv_cache.h"
#include "attention/sdpa.h"
#include "bench/bench_data.h"
#include "cpp/kernels/block_quantizers.h"
#include "kernels/weight_matmul.h"
#include "simd/simd.h"

namespace kvasir {
namespace {

using benchmark::Counter;
using benchmark::State;

constexpr TensorType kTypes[] = {TensorType::kQ4_0, TensorType::kQ5_0, TensorType::kQ8_0,
                                 TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K,
                                 TensorType::kF16,  TensorType::kBF16, TensorType::kF32};

// More than caches hold: what is read once an iteration comes from memory.
constexpr int64_t kStreamedBytes = int64_t{128} << 20;

constexpr int64_t kCols = 2048;
constexpr int64_t kGemmRows = 2048;  // of the weights

Counter Rate(double count) { return Counter(count / 1e9, Counter::kIsIterationInvariantRate); }

// Rows are random, and the same eight again and again.
WeightMatrix MakeWeights(TensorType type, int64_t rows) {
  constexpr int64_t kDifferent = 8;
  const TensorTypeTraits traits = *FindTensorTypeTraits(type);
  const std::vector<float> values = Random(kDifferent * kCols, 1);
  std::vector<uint8_t> different(static_cast<size_t>(kDifferent * RowBytes(type, kCols)));
  uint8_t* block = different.data();
  for (size_t i = 0; i < values.size(); i += static_cast<size_t>(traits.block_elements)) {
    QuantizeBlock(type, &values[i], block);
    block += traits.block_bytes;
  }
  WeightMatrixBuilder builder = Need(WeightMatrixBuilder::Create(type, rows, kCols));
  const std::span<uint8_t> raw = builder.raw();
  for (size_t at = 0; at < raw.size(); at += different.size()) {
    std::copy_n(different.data(), std::min(different.size(), raw.size() - at), raw.data() + at);
  }
  return Need(builder.Finish());
}

// What was made last, since a benchmark's function is called several times.
const WeightMatrix& Weights(TensorType type, int64_t rows) {
  static std::map<int64_t, WeightMatrix> of_type;
  if (!of_type.empty() && of_type.begin()->second.type() != type) of_type.clear();
  WeightMatrix& weights = of_type[rows];
  if (weights.empty()) weights = MakeWeights(type, rows);
  return weights;
}

void MeasureProduct(State& state, const WeightMatrix& w, int64_t inputs, int threads) {
  ThreadPool pool(threads);
  const std::vector<float> x = Random(inputs * kCols, 2);
  std::vector<float> y(static_cast<size_t>(inputs * w.rows()));
  QuantizedInput input = Need(QuantizedInput::Create(inputs, kCols));
  input.Set(x.data(), inputs, kCols, pool);
  for (auto _ : state) {
    MatMul({{&w, nullptr, y.data()}}, input, pool);
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  state.counters["GMAC/s"] = Rate(static_cast<double>(inputs * w.rows() * w.cols()));
  state.counters["GB/s"] = Rate(static_cast<double>(w.bytes()));
}

using Caches = std::vector<std::unique_ptr<KvCache>>;

// Llama-3.2-1B's attention.
constexpr int64_t kQueryHeads = 32, kKvHeads = 8, kHeadDim = 64;

// As many layers as memory has to be read for.
Caches MakeCaches(KvType type, int64_t depth) {
  constexpr int64_t kRows = 250;
  const std::vector<float> k = Random(kRows * kKvHeads * kHeadDim, 3);
  const std::vector<float> v = Random(kRows * kKvHeads * kHeadDim, 4);
  Caches caches;
  int64_t bytes = 0;
  while (bytes < kStreamedBytes) {
    caches.push_back(Need(MakeFlatKvCache(type, {kKvHeads, kHeadDim, depth})));
    for (int64_t start = 0; start < depth; start += kRows) {
      const int64_t rows = std::min(kRows, depth - start);
      const Status status =
          caches.back()->Update(start, HeadsOfRows(k.data(), kKvHeads, rows, kHeadDim),
                                HeadsOfRows(v.data(), kKvHeads, rows, kHeadDim));
      if (!status.ok()) std::exit(1);
    }
    bytes += caches.back()->bytes();
  }
  return caches;
}

const Caches& CachesOf(KvType type, int64_t depth) {
  static Caches caches;
  if (caches.empty() || caches[0]->type() != type || caches[0]->length() != depth) {
    caches.clear();
    caches = MakeCaches(type, depth);
  }
  return caches;
}

// One layer of one decode step an iteration.
void MeasureSdpa(State& state, KvType type, int64_t depth, int threads) {
  const Caches& caches = CachesOf(type, depth);
  ThreadPool pool(threads);
  SdpaScratch scratch = Need(SdpaScratch::Create(pool.size(), kQueryHeads, kHeadDim));
  const std::vector<float> q = Random(kQueryHeads * kHeadDim, 5);
  std::vector<float> out(q.size());
  const View4<const float> queries = HeadsOfRows(q.data(), kQueryHeads, 1, kHeadDim);
  const View4<float> outputs = HeadsOfRows(out.data(), kQueryHeads, 1, kHeadDim);
  MaskRule mask;
  mask.causal = true;
  mask.start = depth - 1;
  SdpaOptions options;
  options.scale = 0.125f;
  size_t layer = 0;
  for (auto _ : state) {
    Need(Sdpa(queries, caches[layer]->Runs(), mask, options, outputs, pool, scratch));
    layer = (layer + 1) % caches.size();
    benchmark::ClobberMemory();
  }
  state.counters["GB/s"] = Rate(static_cast<double>(caches[0]->bytes()));
}

// The sum of a range, whose length is a multiple of 16 vectors.
uint64_t Sum(const uint64_t* begin, const uint64_t* end) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (const uint64_t* at = begin; at < end; at += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, at));
    b = hn::Add(b, hn::LoadU(d, at + lanes));
    c = hn::Add(c, hn::LoadU(d, at + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, at + 3 * lanes));
  }
  return hn::ReduceSum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
}

// What no kernel can be faster than, at its packed bytes.
void MeasureReading(State& state, int threads) {
  static const std::vector<uint64_t> data(kStreamedBytes / sizeof(uint64_t), 1);
  constexpr int64_t kGrain = 4096;
  ThreadPool pool(threads);
  std::atomic<uint64_t> total{0};
  for (auto _ : state) {
    pool.ParallelFor(
        static_cast<int64_t>(data.size()), kGrain,
        [&](int64_t begin, int64_t end, int) { total += Sum(&data[begin], data.data() + end); });
    benchmark::DoNotOptimize(total.load());
  }
  state.counters["GB/s"] = Rate(static_cast<double>(kStreamedBytes));
}

const char* Name(SumMethod method) {
  return method == SumMethod::kPairs ? "pairs" : method == SumMethod::kQuads ? "quads" : "words";
}

template <class F>
void Register(const std::string& kernel, const F& measure) {
  for (int threads : {1, 2}) {
    benchmark::RegisterBenchmark((kernel + "/" + std::to_string(threads)).c_str(),
                                 [measure, threads](State& state) { measure(state, threads); })
        ->UseRealTime();
  }
}

void RegisterAll() {
  for (TensorType type : kTypes) {
    // Again and again: all others are compared with it, and the best counts.
    Register("Read", MeasureReading);
    const std::string name(FindTensorTypeTraits(type)->name);
    Register("GEMV/" + name, [=](State& state, int threads) {
      const int64_t rows = kStreamedBytes / RowBytes(type, kCols);
      MeasureProduct(state, Weights(type, rows), 1, threads);
    });
    for (int64_t inputs : {8, 128}) {
      Register("GEMM/" + name + "/" + std::to_string(inputs), [=](State& state, int threads) {
        MeasureProduct(state, Weights(type, kGemmRows), inputs, threads);
      });
    }
  }
  constexpr std::pair<KvType, const char*> kCacheTypes[] = {
      {KvType::kF32, "f32"}, {KvType::kF16, "f16"}, {KvType::kI8, "i8"}};
  for (const auto& [type, name] : kCacheTypes) {
    for (int64_t depth : {2000, 7000}) {
      Register(std::string("SDPA/") + name + "/" + std::to_string(depth),
               [type = type, depth](State& state, int threads) {
                 MeasureSdpa(state, type, depth, threads);
               });
    }
  }
}

}  // namespace
}  // namespace kvasir

int main(int argc, char** argv) {
  const kvasir::SumMethods methods = kvasir::FastestSumMethods();
  benchmark::AddCustomContext("sums_of_small_weights", kvasir::Name(methods.small));
  benchmark::AddCustomContext("sums_of_bytes", kvasir::Name(methods.bytes));
  kvasir::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
