// Real vocabularies against the ids that their models' reference gives.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "runtime/model_loader.h"
#include "shared_models.h"

namespace kvasir {
namespace {

constexpr char kSeparator[] = "\n__ggml_vocab_test__\n";

std::vector<std::string> Texts(const std::string& inp) {
  std::vector<std::string> texts;
  size_t begin = 0;
  while (true) {
    const size_t end = inp.find(kSeparator, begin);
    if (end == std::string::npos) break;
    texts.push_back(inp.substr(begin, end - begin));
    begin = end + sizeof(kSeparator) - 1;
  }
  return texts;
}

std::vector<std::vector<TokenId>> IdLines(const std::string& out) {
  std::vector<std::vector<TokenId>> lines;
  std::istringstream stream(out);
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream numbers(line);
    lines.emplace_back();
    for (TokenId id; numbers >> id;) lines.back().push_back(id);
  }
  return lines;
}

class VocabularyTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = std::string("ggml-vocab-") + GetParam() + ".gguf";
    const std::optional<std::string> file = ReadSharedModel(name);
    const std::optional<std::string> inp = ReadSharedModel(name + ".inp");
    const std::optional<std::string> out = ReadSharedModel(name + ".out");
    if (!file || !inp || !out) GTEST_SKIP() << "../shared/models/" << name << " is not there";
    texts_ = Texts(*inp);
    ids_ = IdLines(*out);
    ASSERT_GT(texts_.size(), 40u);
    ASSERT_LE(texts_.size(), ids_.size());

    ModelLoader loader({file->size()});
    const auto* bytes = reinterpret_cast<const uint8_t*>(file->data());
    const Status status = loader.Append({bytes, file->size()});
    ASSERT_TRUE(status.ok()) << status.message();
    Result<std::shared_ptr<const Model>> model = loader.Finish();
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = *std::move(model);
  }

  std::shared_ptr<const Model> model_;
  std::vector<std::string> texts_;
  std::vector<std::vector<TokenId>> ids_;
};

TEST_P(VocabularyTest, HasNoWeightsAndStillLoads) { EXPECT_FALSE(model_->has_weights()); }

TEST_P(VocabularyTest, GivesTheReferencesIds) {
  EncodeOptions options;
  options.add_bos = false;
  for (size_t i = 0; i < texts_.size(); ++i) {
    EXPECT_EQ(model_->tokenizer().Encode(texts_[i], options), ids_[i])
        << "text " << i << ": " << ::testing::PrintToString(texts_[i]);
  }
}

TEST_P(VocabularyTest, DecodingGivesTheTextBack) {
  for (size_t i = 0; i < texts_.size(); ++i) {
    EXPECT_EQ(model_->tokenizer().Decode(ids_[i]), texts_[i]) << "text " << i;
  }
}

std::string TestName(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(SentencePiece, VocabularyTest, ::testing::Values("llama-spm", "phi-3"),
                         TestName);
INSTANTIATE_TEST_SUITE_P(BytePairs, VocabularyTest,
                         ::testing::Values("gpt-2", "starcoder", "deepseek-coder"), TestName);

}  // namespace
}  // namespace kvasir
