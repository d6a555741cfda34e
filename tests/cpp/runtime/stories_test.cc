// The main job on a real model: a file's bytes to text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "runtime/generation.h"
#include "runtime/model_loader.h"
#include "runtime/session.h"
#include "shared_models.h"

namespace kvasir {
namespace {

// The indented block that the models' README shows as the model's output.
std::string ExpectedStory(const std::string& readme) {
  std::string story;
  size_t begin = 0;
  while (begin < readme.size()) {
    const size_t end = std::min(readme.find('\n', begin), readme.size());
    const std::string line = readme.substr(begin, end - begin);
    if (line.starts_with("    ")) story += (story.empty() ? "" : "\n") + line.substr(4);
    begin = end + 1;
  }
  return story;
}

class StoriesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> file = ReadSharedModel("stories260K.gguf");
    const std::optional<std::string> readme = ReadSharedModel("README.md");
    if (!file || !readme) GTEST_SKIP() << "../shared/models/stories260K.gguf is not there";
    expected_ = ExpectedStory(*readme);
    ASSERT_GT(expected_.size(), 200u);
    model_ = Load(*file, file->size());
  }

  static std::shared_ptr<const Model> Load(const std::string& file, size_t portion) {
    ModelLoader loader({file.size()});
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
    for (size_t at = 0; at < file.size(); at += portion) {
      const Status status =
          loader.Append(std::span(bytes + at, std::min(portion, file.size() - at)));
      EXPECT_TRUE(status.ok()) << status.message();
      if (!status.ok()) return nullptr;
    }
    Result<std::shared_ptr<const Model>> model = loader.Finish();
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? *std::move(model) : nullptr;
  }

  static std::string Tell(const std::shared_ptr<const Model>& model, KvType type, int threads) {
    Result<std::unique_ptr<Session>> session =
        Session::Create(model, {.kv_type = type}, *Compute::Create(*model, threads));
    EXPECT_TRUE(session.ok()) << session.status().message();
    GenerateOptions options;
    options.max_tokens = 256;
    options.sampler.temperature = 0;
    Result<std::unique_ptr<Generation>> generation =
        Generation::Create(**session, model->tokenizer().Encode("", {}), options);
    EXPECT_TRUE(generation.ok()) << generation.status().message();
    std::string text;
    while (true) {
      const Result<GenerationStep> step = (*generation)->Step();
      EXPECT_TRUE(step.ok()) << step.status().message();
      if (!step.ok()) break;
      text += step->text;
      if (step->kind == StepKind::kDone) break;
    }
    return text;
  }

  std::string expected_;
  std::shared_ptr<const Model> model_;
};

TEST_F(StoriesTest, TellsTheReferencesStoryInEveryCacheTypeAndThreadCount) {
  ASSERT_NE(model_, nullptr);
  for (KvType type : {KvType::kF32, KvType::kF16}) {
    for (int threads : {1, 2, 3}) EXPECT_EQ(Tell(model_, type, threads), expected_);
  }
}

// The vectors: tests/golden/README.md.
TEST_F(StoriesTest, LogitsAgreeWithPyTorchOnTwoHundredTokens) {
  const std::string description = *ReadGolden("stories260k.txt");
  std::istringstream numbers(description.substr(description.find("tokens ") + 7));
  std::vector<TokenId> tokens;
  for (TokenId token; numbers >> token;) tokens.push_back(token);
  ASSERT_EQ(tokens.size(), 200u);
  const std::string bytes = *ReadGolden("stories260k.logits.bin");
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());

  Result<std::unique_ptr<Session>> session =
      Session::Create(model_, {.kv_type = KvType::kF32}, *Compute::Create(*model_, 2));
  ASSERT_TRUE(session.ok());
  const Result<std::vector<float>> logits = (*session)->Logits(tokens);
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  ASSERT_EQ(logits->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR((*logits)[i], expected[i], 1e-4f) << "element " << i;
  }
}

TEST_F(StoriesTest, PortionsOfAFileDoNotMatter) {
  const std::string file = *ReadSharedModel("stories260K.gguf");
  const std::shared_ptr<const Model> model = Load(file, 997);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(Tell(model, KvType::kF32, 1), expected_);
}

}  // namespace
}  // namespace kvasir
