// Real vocabularies against the ids that their models' reference gives.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <utility>
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

void AppendUtf8(uint32_t point, std::string& text) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xe0 | point >> 12);
    } else {
      put(0xf0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3f));
    }
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
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

// Any code point that is in use, from all planes but the empty ones.
std::string RandomText(std::mt19937& random) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x7f},       {0x20, 0x7e},       {0x80, 0x24f},     {0x300, 0x36f},   {0x370, 0x7ff},
      {0x800, 0x1fff},    {0x2000, 0x206f},   {0x2070, 0xd7ff},  {0xe000, 0xffff}, {0x4e00, 0x9fff},
      {0x10000, 0x33fff}, {0x1f300, 0x1faff}, {0xe0000, 0xe007f}};
  std::string text;
  for (size_t i = random() % 60; i > 0; --i) {
    const auto [first, last] = kRanges[random() % std::size(kRanges)];
    const uint32_t point = first + random() % (last - first + 1);
    for (size_t repeat = random() % 4 == 0 ? random() % 5 : 1; repeat > 0; --repeat) {
      AppendUtf8(point, text);
    }
  }
  return text;
}

TEST_P(VocabularyTest, RandomTextComesBack) {
  std::mt19937 random(2);
  EncodeOptions options;
  options.add_bos = false;
  for (int round = 0; round < 500; ++round) {
    const std::string text = RandomText(random);
    const std::vector<TokenId> ids = model_->tokenizer().Encode(text, options);
    ASSERT_EQ(model_->tokenizer().Decode(ids), text) << "round " << round;
  }
}

TEST_P(VocabularyTest, TokensOneByOneGiveTheTextOfAll) {
  for (size_t i = 0; i < texts_.size(); ++i) {
    StreamingDetokenizer stream(model_->tokenizer());
    std::string text;
    for (TokenId id : ids_[i]) text += stream.Push(id);
    EXPECT_EQ(text + stream.Flush(), texts_[i]) << "text " << i;
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
