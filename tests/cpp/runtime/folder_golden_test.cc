// Every architecture as the folder that transformers saves of it, against the same
// logits that its GGUF form is compared with.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "golden_folder.h"
#include "kernels/convert.h"
#include "kernels/quantize_blocks.h"
#include "model/decoder.h"
#include "runtime/folder_reader.h"

namespace kvasir {
namespace {

struct Loaded {
  ModelConfig config;
  Weights weights;
  std::map<TensorType, TypeUse> type_use;
};

void Load(const std::vector<FolderFile>& files, size_t portion, std::optional<TensorType> quantize,
          Loaded& loaded) {
  WeightsSink sink;
  FolderReader reader(NamesAndSizes(files), quantize, sink);
  const Status appended = AppendAll(reader, files, portion);
  ASSERT_TRUE(appended.ok()) << appended.message();
  const Status finished = reader.Finish();
  ASSERT_TRUE(finished.ok()) << finished.message();
  Result<Weights> weights = sink.builder->Finish();
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  loaded = {sink.builder->config(), *std::move(weights), sink.builder->type_use()};
}

// After each of the tokens.
std::vector<float> Logits(const Loaded& model, const std::vector<int32_t>& tokens) {
  const int64_t count = static_cast<int64_t>(tokens.size());
  ThreadPool pool(1);
  Result<KvCaches> caches =
      MakeKvCaches(model.config, {.type = KvType::kF32, .capacity = count, .sliding = {}});
  Result<DecoderWorkspace> workspace = DecoderWorkspace::Create(model.config, count, 1);
  EXPECT_TRUE(caches.ok() && workspace.ok());
  std::vector<float> logits(static_cast<size_t>(count * model.config.vocab_size));
  const Status status = Decoder(model.config, model.weights, pool)
                            .Forward(tokens, 0, *caches, *workspace, LogitRows::kAll, logits);
  EXPECT_TRUE(status.ok()) << status.message();
  return logits;
}

void ExpectNear(const std::vector<float>& logits, const std::vector<float>& expected, float error) {
  ASSERT_EQ(logits.size(), expected.size());
  for (size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], expected[i], error) << i;
}

class FolderGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FolderGoldenTest, LogitsAgreeWithTransformers) {
  const GoldenFolder folder(GetParam());
  Loaded model;
  ASSERT_NO_FATAL_FAILURE(Load(folder.Files(), 1 << 20, std::nullopt, model));
  ExpectNear(Logits(model, folder.file.tokens), ReadFloats(std::string(GetParam()) + ".logits"),
             1e-4f);
}

INSTANTIATE_TEST_SUITE_P(Models, FolderGoldenTest,
                         ::testing::Values("qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "granite",
                                           "smollm3", "phi3", "phi3-window", "phi3-short",
                                           "phi3-long", "mixtral", "qwen3moe"),
                         kNameOfModel);

TEST(FolderTest, ShardsInAnyPortionsAreOneModel) {
  const GoldenFolder folder("qwen2");
  const auto middle = folder.entries.begin() + 11;
  const std::vector<FolderFile> files = {
      {"config.json", folder.config},
      {"tokenizer.json", "{}"},
      {"model.safetensors.index.json", R"({"weight_map":{"a":"model-00001-of-00002.safetensors",)"
                                       R"("b":"model-00002-of-00002.safetensors"}})"},
      {"model-00001-of-00002.safetensors", WriteSafetensors({folder.entries.begin(), middle})},
      {"model-00002-of-00002.safetensors", WriteSafetensors({middle, folder.entries.end()})}};
  Loaded whole;
  ASSERT_NO_FATAL_FAILURE(Load(folder.Files(), 1 << 20, std::nullopt, whole));
  const std::vector<float> expected = Logits(whole, folder.file.tokens);
  for (size_t portion : {size_t{1}, size_t{7}, size_t{4099}}) {
    Loaded model;
    ASSERT_NO_FATAL_FAILURE(Load(files, portion, std::nullopt, model));
    EXPECT_EQ(Logits(model, folder.file.tokens), expected);
  }
}

// The folder with its tensors as halves, which `to_halves` makes of floats.
template <class F>
GoldenFolder WithHalves(const std::string& name, const std::string& dtype, F&& to_halves) {
  GoldenFolder folder(name);
  for (SafetensorsEntry& entry : folder.entries) {
    std::vector<float> values(entry.bytes.size() / sizeof(float));
    std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
    std::vector<uint16_t> halves(values.size());
    to_halves(values, halves);
    entry.dtype = dtype;
    entry.bytes.assign(reinterpret_cast<const char*>(halves.data()), halves.size() * 2);
  }
  return folder;
}

TEST(FolderTest, HalvesAreReadAsWhatTheyMean) {
  const GoldenFolder halves =
      WithHalves("gemma3", "F16", [](const std::vector<float>& from, std::vector<uint16_t>& to) {
        F32ToF16(from.data(), static_cast<int64_t>(from.size()), to.data());
      });
  Loaded model;
  ASSERT_NO_FATAL_FAILURE(Load(halves.Files(), 333, std::nullopt, model));
  ExpectNear(Logits(model, halves.file.tokens), ReadFloats("gemma3.logits"), 3e-2f);
  EXPECT_TRUE(model.type_use.contains(TensorType::kF16));
  EXPECT_TRUE(model.type_use.contains(TensorType::kF32)) << "norms, which 1 is added to";

  const GoldenFolder brain =
      WithHalves("gemma3", "BF16", [](const std::vector<float>& from, std::vector<uint16_t>& to) {
        for (size_t i = 0; i < from.size(); ++i) {
          to[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(from[i]) >> 16);
        }
      });
  ASSERT_NO_FATAL_FAILURE(Load(brain.Files(), 333, std::nullopt, model));
  ExpectNear(Logits(model, brain.file.tokens), ReadFloats("gemma3.logits"), 0.3f);
}

TEST(FolderTest, MatricesAreQuantizedAsTheyComeAndVectorsStay) {
  // Its inner width alone is whole blocks of 32: heads are 80 wide.
  const GoldenFolder folder("qwen3");
  for (TensorType type : {TensorType::kQ8_0, TensorType::kQ4_0}) {
    Loaded model;
    ASSERT_NO_FATAL_FAILURE(Load(folder.Files(), 1001, type, model));
    EXPECT_EQ(model.type_use.at(type).tensors, 3) << "the output projection of each layer";
    for (size_t layer = 0; layer < 3; ++layer) {
      const WeightMatrix& matrix = model.weights.layers[layer].attention_output;
      const TensorInfo& info = *std::find_if(
          folder.file.tensors.begin(), folder.file.tensors.end(), [&](const TensorInfo& each) {
            return each.name == "blk." + std::to_string(layer) + ".attn_output.weight";
          });
      const std::vector<float> values = TensorValues(info);
      std::vector<uint8_t> blocks(
          static_cast<size_t>(RowBytes(type, static_cast<int64_t>(values.size()))));
      QuantizeBlocks(type, values.data(), static_cast<int64_t>(values.size()), blocks.data());
      Result<WeightMatrixBuilder> builder =
          WeightMatrixBuilder::Create(type, matrix.rows(), matrix.cols());
      std::copy(blocks.begin(), blocks.end(), builder->raw().begin());
      const Result<WeightMatrix> expected = builder->Finish();
      std::vector<float> a(static_cast<size_t>(matrix.cols())), b(a.size());
      for (int64_t row = 0; row < matrix.rows(); ++row) {
        matrix.DequantizeRow(row, a.data());
        expected->DequantizeRow(row, b.data());
        ASSERT_EQ(a, b) << layer << ", row " << row;
      }
    }
    const float error = type == TensorType::kQ8_0 ? 0.1f : 1.5f;
    ExpectNear(Logits(model, folder.file.tokens), ReadFloats("qwen3.logits"), error);
  }
}

}  // namespace
}  // namespace kvasir
