// The decoder against PyTorch: logits of every row, and the contents of the KV
// caches. The vectors and what they mean: tests/golden/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "golden_values.h"
#include "kernels/convert.h"
#include "kernels/quantize_row.h"
#include "model/decoder.h"
#include "shared_models.h"
#include "test_model.h"

namespace kvasir {
namespace {

// `name value` lines of a golden model's description.
struct Golden {
  std::map<std::string, std::string> values;
  std::vector<int32_t> tokens;

  int64_t Int(const std::string& name) const { return std::stoll(values.at(name)); }
  double Float(const std::string& name) const { return std::stod(values.at(name)); }
};

Golden ReadDescription(const std::string& name) {
  Golden golden;
  std::istringstream lines(ReadGolden(name + ".txt").value_or(""));
  std::string line;
  while (std::getline(lines, line)) {
    const size_t space = line.find(' ');
    golden.values[line.substr(0, space)] = line.substr(space + 1);
  }
  std::istringstream numbers(golden.values["tokens"]);
  for (int32_t token; numbers >> token;) golden.tokens.push_back(token);
  return golden;
}

ModelConfig ConfigOf(const Golden& golden) {
  ModelConfig config;
  config.architecture = "llama";
  config.layers = golden.Int("layers");
  config.dim = golden.Int("dim");
  config.heads = golden.Int("heads");
  config.kv_heads = golden.Int("kv_heads");
  config.head_dim = golden.Int("head_dim");
  config.ffn_dim = golden.Int("ffn");
  config.vocab_size = golden.Int("vocab");
  config.rms_norm_eps = static_cast<float>(golden.Float("eps"));
  config.context_length = 4096;
  config.rope.dims = config.head_dim;
  config.rope.theta = golden.Float("theta");
  config.rope.original_context_length = golden.Int("original_context");
  config.rope.factor = golden.Float("factor");
  const std::string scaling = golden.values.at("scaling");
  if (scaling == "linear") config.rope.scaling = RopeScaling::kLinear;
  if (scaling == "yarn") config.rope.scaling = RopeScaling::kYarn;
  return config;
}

// The divisors that a file of a model with llama3 scaling carries, as the
// 3.1 models define them: fast pairs keep their speed, slow ones are divided.
std::vector<float> Llama3Divisors(const Golden& golden) {
  const double original = golden.Float("original_context"), factor = golden.Float("factor");
  const int64_t dims = golden.Int("head_dim");
  std::vector<float> divisors;
  for (int64_t j = 0; j < dims / 2; ++j) {
    const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(dims);
    const double wavelength = 2 * M_PI * std::pow(golden.Float("theta"), exponent);
    const double smooth = std::clamp((original / wavelength - 1) / 3, 0.0, 1.0);
    divisors.push_back(static_cast<float>(1 / ((1 - smooth) / factor + smooth)));
  }
  return divisors;
}

Weights WeightsOf(const Golden& golden, const ModelConfig& config) {
  std::vector<TensorInfo> tensors = RequiredTensors(config);
  if (golden.Int("untied") != 0) {
    tensors.push_back(Info("output.weight", config.dim, config.vocab_size));
  }
  for (int64_t i = 0; golden.Int("biases") != 0 && i < config.layers; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    tensors.push_back(Info(prefix + "attn_q.bias", config.q_dim(), 1));
    tensors.push_back(Info(prefix + "attn_k.bias", config.kv_dim(), 1));
    tensors.push_back(Info(prefix + "attn_v.bias", config.kv_dim(), 1));
    tensors.push_back(Info(prefix + "attn_output.bias", config.dim, 1));
  }
  WeightsBuilder builder(config);
  for (const TensorInfo& info : tensors) {
    EXPECT_TRUE(AddTensor(builder, info, TensorValues(info)).ok()) << info.name;
  }
  if (golden.values.at("scaling") == "llama3") {
    const std::vector<float> divisors = Llama3Divisors(golden);
    const TensorInfo info = Info("rope_freqs.weight", config.head_dim / 2, 1);
    EXPECT_TRUE(AddTensor(builder, info, divisors).ok());
  }
  Result<Weights> weights = builder.Finish();
  EXPECT_TRUE(weights.ok()) << weights.status().message();
  return *std::move(weights);
}

class GoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  GoldenTest()
      : golden_(ReadDescription(GetParam())),
        config_(ConfigOf(golden_)),
        weights_(WeightsOf(golden_, config_)) {}

  void Reset(KvType type) {
    Result<KvCaches> caches =
        MakeKvCaches(config_, {.type = type, .capacity = count() + 3, .sliding = {}});
    ASSERT_TRUE(caches.ok());
    caches_ = *std::move(caches);
    Result<DecoderWorkspace> workspace = DecoderWorkspace::Create(config_, count(), pool_.size());
    ASSERT_TRUE(workspace.ok());
    workspace_ = std::make_unique<DecoderWorkspace>(*std::move(workspace));
  }

  int64_t count() const { return static_cast<int64_t>(golden_.tokens.size()); }

  // Runs tokens [from, to) and compares their logits.
  void RunAndCompare(int64_t from, int64_t to, float tolerance) {
    const size_t vocab = static_cast<size_t>(config_.vocab_size);
    const std::span<const int32_t> tokens =
        std::span<const int32_t>(golden_.tokens)
            .subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
    std::vector<float> logits(tokens.size() * vocab);
    const Status status = Decoder(config_, weights_, pool_)
                              .Forward(tokens, from, caches_, *workspace_, LogitRows::kAll, logits);
    ASSERT_TRUE(status.ok()) << status.message();
    const float* expected = logits_.data() + static_cast<size_t>(from) * vocab;
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], expected[i], tolerance)
          << "row " << from + static_cast<int64_t>(i / vocab) << ", token " << i % vocab;
    }
  }

  Golden golden_;
  ModelConfig config_;
  Weights weights_;
  std::vector<float> logits_ = ReadFloats(std::string(GetParam()) + ".logits");
  ThreadPool pool_{2};
  KvCaches caches_;
  std::unique_ptr<DecoderWorkspace> workspace_;
};

TEST_P(GoldenTest, LogitsAgreeWithPyTorchAfterAnyPrefill) {
  ASSERT_EQ(logits_.size(), golden_.tokens.size() * static_cast<size_t>(config_.vocab_size));
  for (int64_t prefill : {int64_t{1}, int64_t{3}, int64_t{17}, int64_t{64}, count()}) {
    Reset(KvType::kF32);
    RunAndCompare(0, prefill, 1e-4f);
    for (int64_t i = prefill; i < std::min(prefill + 16, count()); ++i) {
      RunAndCompare(i, i + 1, 1e-4f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest,
                         ::testing::Values("llama-d16", "llama-d80", "llama-untied-biases-linear",
                                           "llama-llama3-rope", "llama-yarn-rope"),
                         kNameOfModel);

// The cache's contents, element by element.
class GoldenCacheTest : public GoldenTest {
 protected:
  void SetUp() override {
    keys_ = ReadFloats(std::string(GetParam()) + ".keys");
    values_ = ReadFloats(std::string(GetParam()) + ".values");
    ASSERT_EQ(keys_.size(), static_cast<size_t>(config_.layers * config_.kv_dim() * count()));
    ASSERT_EQ(values_.size(), keys_.size());
  }

  static float At(const KvRows& rows, int64_t head, int64_t position, int64_t d) {
    const int64_t at = head * rows.stride[1] + position * rows.stride[2] + d;
    if (rows.type == KvType::kF32) return static_cast<const float*>(rows.data)[at];
    float value;
    F16ToF32(static_cast<const uint16_t*>(rows.data) + at, 1, &value);
    return value;
  }

  void CompareCaches(int64_t length, float tolerance) {
    const int64_t dim = config_.head_dim;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const KvCache& cache = *caches_[static_cast<size_t>(layer)];
      ASSERT_EQ(cache.length(), length);
      const KvRuns runs = cache.Runs();
      ASSERT_EQ(runs.count, 1);
      for (int64_t h = 0; h < config_.kv_heads; ++h) {
        for (int64_t s = 0; s < length; ++s) {
          const int64_t row = ((layer * config_.kv_heads + h) * count() + s) * dim;
          for (int64_t d = 0; d < dim; ++d) {
            const size_t at = static_cast<size_t>(row + d);
            ASSERT_NEAR(At(runs.run[0].k, h, s, d), keys_[at], tolerance)
                << "key, layer " << layer << ", head " << h << ", row " << s << ", d " << d;
            ASSERT_NEAR(At(runs.run[0].v, h, s, d), values_[at], tolerance)
                << "value, layer " << layer << ", head " << h << ", row " << s << ", d " << d;
          }
        }
      }
    }
  }

  std::vector<float> keys_, values_;
};

TEST_P(GoldenCacheTest, KeysAndValuesAreThoseOfPyTorchAfterPrefillAndEachToken) {
  for (int64_t prefill : {1, 3, 17, 64}) {
    Reset(KvType::kF32);
    RunAndCompare(0, prefill, 1e-4f);
    CompareCaches(prefill, 2e-5f);
    for (int64_t i = prefill; i < prefill + 16; ++i) {
      RunAndCompare(i, i + 1, 1e-4f);
      CompareCaches(i + 1, 2e-5f);
    }
  }
}

// The first layer's rows do not depend on the cache, so that they are exactly
// those of PyTorch but for half a step of their own scale.
TEST_P(GoldenCacheTest, TheI8CacheHoldsTheSameRounded) {
  Reset(KvType::kI8);
  RunAndCompare(0, 17, 0.5f);
  for (int64_t i = 17; i < 33; ++i) RunAndCompare(i, i + 1, 0.5f);
  const KvRuns runs = caches_[0]->Runs();
  ASSERT_EQ(runs.count, 1);
  const int64_t dim = config_.head_dim;
  for (const auto& [rows, expected] :
       {std::pair(runs.run[0].k, &keys_), std::pair(runs.run[0].v, &values_)}) {
    for (int64_t h = 0; h < config_.kv_heads; ++h) {
      for (int64_t s = 0; s < 33; ++s) {
        const int64_t quant = h * rows.quant_stride[1] + s;
        const auto* stored = static_cast<const int8_t*>(rows.data) + h * rows.stride[1] + s * dim;
        std::vector<float> row(static_cast<size_t>(dim));
        DequantizeRow(stored, dim, {rows.scale[quant], rows.zero_point[quant]}, row.data());
        for (int64_t d = 0; d < dim; ++d) {
          ASSERT_NEAR(row[static_cast<size_t>(d)],
                      (*expected)[static_cast<size_t>((h * count() + s) * dim + d)],
                      rows.scale[quant] / 2 + 2e-5f)
              << "head " << h << ", row " << s << ", d " << d;
        }
      }
    }
  }
}

TEST_P(GoldenCacheTest, TheHalfPrecisionCacheHoldsTheSameRounded) {
  Reset(KvType::kF16);
  RunAndCompare(0, 17, 2e-2f);
  for (int64_t i = 17; i < 33; ++i) RunAndCompare(i, i + 1, 2e-2f);
  CompareCaches(33, 1e-2f);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenCacheTest, ::testing::Values("llama-d16", "llama-d80"),
                         kNameOfModel);

}  // namespace
}  // namespace kvasir
