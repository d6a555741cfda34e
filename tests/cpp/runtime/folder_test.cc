// Folders through the model loader: what must be there, in which order, and what
// damage does.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "golden_folder.h"
#include "runtime/model_loader.h"

namespace kvasir {
namespace {

const std::string kTokenizer =
    R"({"added_tokens":[{"id":3,"content":"<end>","special":true},{"id":4,"content":"<stop>",)"
    R"("special":true}],"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},)"
    R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})";

std::vector<FolderFile> Files() {
  std::vector<FolderFile> files = GoldenFolder("qwen2").Files();
  files[1].bytes = kTokenizer;
  return files;
}

Result<std::shared_ptr<const Model>> Load(const std::vector<FolderFile>& files,
                                          std::optional<TensorType> quantize = std::nullopt) {
  ModelLoader loader(NamesAndSizes(files), quantize);
  if (Status status = AppendAll(loader, files, 1000); !status.ok()) return status;
  return loader.Finish();
}

void ExpectRefused(const std::vector<FolderFile>& files, ErrorCode code, const std::string& named) {
  const Result<std::shared_ptr<const Model>> model = Load(files);
  ASSERT_FALSE(model.ok()) << named;
  EXPECT_EQ(model.status().code(), code) << model.status().message();
  EXPECT_NE(model.status().message().find(named), std::string::npos) << model.status().message();
}

TEST(FolderLoadTest, AFolderIsAModelWithItsVocabularyAndTemplate) {
  std::vector<FolderFile> files = Files();
  files.insert(files.begin(), {"generation_config.json", R"({"eos_token_id":[3,4]})"});
  files.insert(files.begin(), {"README.md", "passed over"});
  files.insert(files.begin(), {"chat_template.jinja", "{{ messages }}"});
  const Result<std::shared_ptr<const Model>> model = Load(files);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ((*model)->config().layers, 3);
  EXPECT_EQ((*model)->description().chat_template, "{{ messages }}");
  EXPECT_EQ((*model)->tokenizer().eos(), 3);
  EXPECT_TRUE((*model)->tokenizer().IsEndOfGeneration(4));
  EXPECT_EQ((*model)->tokenizer().Encode("ab", {}), std::vector<TokenId>{2});
}

TEST(FolderLoadTest, HeadersTellWhatTheWeightsWouldBe) {
  const std::vector<FolderFile> files = Files();
  for (const auto quantize : {std::optional<TensorType>(), std::optional(TensorType::kQ8_0)}) {
    ModelLoader loader(NamesAndSizes(files), quantize, {}, true);
    const Status appended = AppendAll(loader, files, 1000);
    ASSERT_TRUE(appended.ok()) << appended.message();
    const Result<std::shared_ptr<const Model>> headers = loader.Finish(),
                                               loaded = Load(files, quantize);
    ASSERT_TRUE(headers.ok() && loaded.ok());
    EXPECT_FALSE((*headers)->has_weights());
    ASSERT_EQ((*headers)->type_use().size(), (*loaded)->type_use().size());
    for (const auto& [type, use] : (*loaded)->type_use()) {
      EXPECT_EQ((*headers)->type_use().at(type).bytes, use.bytes);
    }
  }
}

TEST(FolderLoadTest, AVocabularyAloneCanTokenize) {
  for (const std::vector<FolderFile>& files :
       {std::vector<FolderFile>{{"tokenizer.json", kTokenizer}},
        std::vector<FolderFile>{{"config.json", R"({"model_type":"unheard-of"})"},
                                {"tokenizer.json", kTokenizer}}}) {
    const Result<std::shared_ptr<const Model>> model = Load(files);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_FALSE((*model)->has_weights());
    EXPECT_EQ((*model)->tokenizer().Encode("ab", {}), std::vector<TokenId>{2});
  }
}

TEST(FolderLoadTest, WhatIsMissingIsNamed) {
  std::vector<FolderFile> files = Files();
  ExpectRefused({files[1], files[2]}, ErrorCode::kMalformedFile, "no config.json");
  ExpectRefused({files[0], files[2]}, ErrorCode::kMalformedFile, "no tokenizer.json");
  ExpectRefused({files[0]}, ErrorCode::kMalformedFile, "no tokenizer.json");
  files.insert(files.begin(), {"model.safetensors.index.json",
                               R"({"weight_map":{"a":"model-00001-of-00001.safetensors"}})"});
  ExpectRefused(files, ErrorCode::kMalformedFile, "no model-00001-of-00001.safetensors");
  files = Files();
  files[0].bytes = "";
  ExpectRefused(files, ErrorCode::kMalformedFile, "config.json");
  files = Files();
  files[2].bytes = "";
  ExpectRefused(files, ErrorCode::kMalformedFile, "model.safetensors is empty");
}

TEST(FolderLoadTest, FilesInTheWrongOrderOrTwiceAreRefused) {
  const std::vector<FolderFile> files = Files();
  ExpectRefused({files[0], files[1], files[2], files[0]}, ErrorCode::kInvalidArgument,
                "config.json must come before");
  ExpectRefused({files[0], files[0], files[1], files[2]}, ErrorCode::kInvalidArgument, "twice");
  ExpectRefused({files[0], files[1], files[2], {"other.safetensors", files[2].bytes}},
                ErrorCode::kMalformedFile, "in another file, too");
}

TEST(FolderLoadTest, TensorsThatDoNotFitAreNamed) {
  GoldenFolder folder("qwen2");
  const auto expect = [&](ErrorCode code, const std::string& named) {
    std::vector<FolderFile> files = folder.Files();
    files[1].bytes = kTokenizer;
    ExpectRefused(files, code, named);
    folder = GoldenFolder("qwen2");
  };
  folder.entries[3].dtype = "I32";
  expect(ErrorCode::kUnsupportedModel, "I32");
  folder.entries[3].name = "model.layers.0.self_attn.strange.weight";
  expect(ErrorCode::kUnsupportedModel, "strange");
  std::swap(folder.entries[0].shape[0], folder.entries[0].shape[1]);
  expect(ErrorCode::kMalformedFile, "token_embd");
  folder.entries.pop_back();
  expect(ErrorCode::kMalformedFile, "missing");
}

TEST(FolderLoadTest, GgufFilesAreNotQuantizedWhileLoading) {
  ModelLoader loader({{"", 100}}, TensorType::kQ8_0);
  const std::vector<uint8_t> bytes(10);
  EXPECT_EQ(loader.Append(bytes).code(), ErrorCode::kInvalidArgument);
}

TEST(FolderLoadTest, ExpertsThatAreMissingAreNamed) {
  GoldenFolder folder("mixtral");
  const auto third =
      std::find_if(folder.entries.begin(), folder.entries.end(), [](const SafetensorsEntry& entry) {
        return entry.name.find("layers.1.block_sparse_moe.experts.3.w2") != std::string::npos;
      });
  ASSERT_NE(third, folder.entries.end());
  folder.entries.erase(third);
  std::vector<FolderFile> files = folder.Files();
  files[1].bytes = kTokenizer;
  ExpectRefused(files, ErrorCode::kMalformedFile, "blk.1.ffn_down_exps.weight");
}

TEST(FolderLoadTest, DamagedFilesGiveAnErrorOrAModel) {
  const std::vector<FolderFile> good = Files();
  std::mt19937 random(6);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<FolderFile> files = good;
    std::string& bytes = files[random() % files.size()].bytes;
    // Of the weights, most bytes are numbers: damage the header.
    const size_t reach = std::min<size_t>(bytes.size(), 5000);
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % std::min(reach, bytes.size())] ^= static_cast<char>(1 << random() % 8);
    }
    const Result<std::shared_ptr<const Model>> model = Load(files);
    refused += model.ok() ? 0 : 1;
    EXPECT_TRUE(model.ok() || !model.status().message().empty());
  }
  EXPECT_GT(refused, 200);
}

TEST(FolderMetadataTest, TemplatesIdsAndSamplingComeFromTheirFiles) {
  std::map<std::string, std::string> texts = {
      {"generation_config.json",
       R"({"eos_token_id":5,"bos_token_id":1,"temperature":0.6,"top_k":20})"},
      {"tokenizer_config.json",
       R"({"add_bos_token":true,"eos_token":{"content":"<end>"},"chat_template":[)"
       R"({"name":"default","template":"D"},{"name":"tool_use","template":"T"}]})"},
      {"additional_chat_templates/rag.jinja", "R"},
      {"tokenizer.json", "{}"}};
  const Result<FolderMetadata> folder = ReadFolderMetadata(texts);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  const Metadata& metadata = folder->metadata;
  EXPECT_EQ(*metadata.String("tokenizer.chat_template"), "D");
  EXPECT_EQ(*metadata.String("tokenizer.chat_template.tool_use"), "T");
  EXPECT_EQ(*metadata.String("tokenizer.chat_template.rag"), "R");
  EXPECT_EQ(*metadata.String("tokenizer.huggingface.eos_token"), "<end>");
  EXPECT_EQ(*metadata.Int("tokenizer.ggml.bos_token_id"), 1);
  EXPECT_TRUE(*metadata.Bool("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(*metadata.Float("general.sampling.temp"), 0.6);
  EXPECT_EQ(*metadata.Float("general.sampling.top_k"), 20.0);
  const auto ids = metadata.Array("tokenizer.ggml.eos_token_ids", ValueType::kInt32);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ((*ids)->size(), 1);
  EXPECT_EQ((*ids)->Int(0), 5);
  EXPECT_FALSE(folder->model.has_value());
}

}  // namespace
}  // namespace kvasir
