// The keys tokenizer.ggml.* of a model file, read as a tokenizer.
#include "runtime/load_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../format/gguf_writer.h"
#include "format/gguf_reader.h"
#include "tokenizer/sentencepiece_tokenizer.h"

namespace kvasir {
namespace {

// Reads a file that has no tensors and takes its tokenizer.
class TokenizerSink : public TensorSink {
 public:
  Status OnMetadata(const Metadata& metadata) override {
    Result<std::unique_ptr<Tokenizer>> loaded = LoadTokenizer(metadata);
    if (!loaded.ok()) return loaded.status();
    tokenizer = *std::move(loaded);
    return Status();
  }
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo&) override {
    return std::span<uint8_t>();
  }
  Status EndTensor(const TensorInfo&) override { return Status(); }

  std::unique_ptr<Tokenizer> tokenizer;
};

class LoadTokenizerTest : public ::testing::Test {
 protected:
  LoadTokenizerTest() {
    Add("<unk>", TokenKind::kUnknown);
    Add("<s>", TokenKind::kControl);
    Add("</s>", TokenKind::kControl);
    Add("\xe2\x96\x81", TokenKind::kNormal);
    Add("a", TokenKind::kNormal);
    Add("<|end|>", TokenKind::kUserDefined);
    Add("<turn>", TokenKind::kControl);
  }

  void Add(const std::string& spelling, TokenKind kind) {
    tokens_.push_back(spelling);
    scores_.push_back(-static_cast<float>(tokens_.size()));
    kinds_.push_back(static_cast<int32_t>(kind));
  }

  // A file's keys: the model's kind and the three arrays, and what a test adds.
  GgufWriter Keys() const {
    GgufWriter writer;
    writer.StringKey("tokenizer.ggml.model", "llama");
    writer.ArrayKey("tokenizer.ggml.tokens", ValueType::kString, tokens_);
    writer.ArrayKey("tokenizer.ggml.scores", ValueType::kFloat32, scores_);
    writer.ArrayKey("tokenizer.ggml.token_type", ValueType::kInt32, kinds_);
    return writer;
  }

  static Status Read(const GgufWriter& writer, std::unique_ptr<Tokenizer>& tokenizer) {
    TokenizerSink sink;
    const std::vector<uint8_t> bytes = writer.Write();
    GgufReader reader({bytes.size()}, sink);
    Status status = reader.Append(bytes);
    tokenizer = std::move(sink.tokenizer);
    return status;
  }

  static std::unique_ptr<Tokenizer> Load(const GgufWriter& writer) {
    std::unique_ptr<Tokenizer> tokenizer;
    const Status status = Read(writer, tokenizer);
    EXPECT_TRUE(status.ok()) << status.message();
    return tokenizer;
  }

  static void ExpectError(const GgufWriter& writer, ErrorCode code, std::string_view part) {
    std::unique_ptr<Tokenizer> tokenizer;
    const Status status = Read(writer, tokenizer);
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }

  std::vector<std::string> tokens_;
  std::vector<float> scores_;
  std::vector<int32_t> kinds_;
};

TEST_F(LoadTokenizerTest, WithoutIdsAndSwitchesAFileMeansLlamas) {
  const auto tokenizer = Load(Keys());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->vocab_size(), 7);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_TRUE(tokenizer->adds_bos());
  EXPECT_TRUE(tokenizer->adds_space_prefix());
  EXPECT_EQ(tokenizer->Encode("az", {}), (std::vector<TokenId>{1, 3, 4, 0}));
}

TEST_F(LoadTokenizerTest, IdsAndSwitchesOfTheFileCount) {
  GgufWriter keys = Keys();
  keys.Key<uint32_t>("tokenizer.ggml.bos_token_id", ValueType::kUint32, 6);
  keys.Key<uint32_t>("tokenizer.ggml.eos_token_id", ValueType::kUint32, 1);
  keys.Key<uint8_t>("tokenizer.ggml.add_space_prefix", ValueType::kBool, 0);
  const auto tokenizer = Load(keys);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->eos(), 1);
  EXPECT_EQ(tokenizer->Encode("a", {}), (std::vector<TokenId>{6, 4}));
  keys.Key<uint8_t>("tokenizer.ggml.add_bos_token", ValueType::kBool, 0);
  EXPECT_EQ(Load(keys)->Encode("a", {}), std::vector<TokenId>{4});
}

TEST_F(LoadTokenizerTest, AnOrdinaryTokenIsNotTakenForAnUnnamedSpecialOne) {
  for (int32_t& kind : kinds_) kind = static_cast<int32_t>(TokenKind::kNormal);
  const auto tokenizer = Load(Keys());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_FALSE(tokenizer->bos().has_value());
  EXPECT_FALSE(tokenizer->eos().has_value());
  EXPECT_FALSE(tokenizer->IsSpecial(0));
  EXPECT_FALSE(tokenizer->adds_bos());
}

TEST_F(LoadTokenizerTest, EndsOfTurnsAreKnownByIdAndByName) {
  GgufWriter keys = Keys();
  keys.Key<uint32_t>("tokenizer.ggml.eos_token_id", ValueType::kUint32, 1);
  keys.Key<uint32_t>("tokenizer.ggml.eot_token_id", ValueType::kUint32, 6);
  const auto tokenizer = Load(keys);
  ASSERT_NE(tokenizer, nullptr);
  std::vector<TokenId> ends;
  for (TokenId id = 0; id < tokenizer->vocab_size(); ++id) {
    if (tokenizer->IsEndOfGeneration(id)) ends.push_back(id);
  }
  EXPECT_EQ(ends, (std::vector<TokenId>{1, 2, 5, 6})) << "eos, </s>, <|end|>, eot";
}

TEST_F(LoadTokenizerTest, AnEndsNameAsOrdinaryTextEndsNothing) {
  kinds_[5] = static_cast<int32_t>(TokenKind::kNormal);
  EXPECT_FALSE(Load(Keys())->IsEndOfGeneration(5));
}

TEST_F(LoadTokenizerTest, IdsBeyondTheVocabularyMeanThatThereIsNone) {
  GgufWriter keys = Keys();
  keys.Key<uint32_t>("tokenizer.ggml.bos_token_id", ValueType::kUint32, 0xffffffffu);
  keys.Key<uint32_t>("tokenizer.ggml.eos_token_id", ValueType::kUint32, 7);
  keys.Key<uint32_t>("tokenizer.ggml.eot_token_id", ValueType::kUint32, 0xffffffffu);
  const auto tokenizer = Load(keys);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_FALSE(tokenizer->bos().has_value());
  EXPECT_FALSE(tokenizer->eos().has_value());
}

TEST_F(LoadTokenizerTest, OtherKindsOfVocabulariesAreNamed) {
  GgufWriter keys;
  keys.StringKey("tokenizer.ggml.model", "rwkv");
  ExpectError(keys, ErrorCode::kUnsupportedModel, "rwkv");
}

TEST_F(LoadTokenizerTest, MissingAndMistypedKeysAreNamed) {
  ExpectError(GgufWriter(), ErrorCode::kMalformedFile, "tokenizer.ggml.model");
  GgufWriter keys;
  keys.StringKey("tokenizer.ggml.model", "llama");
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.tokens");
  keys.StringKey("tokenizer.ggml.tokens", "a string");
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.tokens");

  keys = Keys();
  keys.StringKey("tokenizer.ggml.bos_token_id", "one");
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.bos_token_id");
  keys = Keys();
  keys.StringKey("tokenizer.ggml.add_bos_token", "yes");
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.add_bos_token");
}

TEST_F(LoadTokenizerTest, ArraysThatDoNotFitAreNamed) {
  const auto with_kinds = [&](ValueType type, auto kinds) {
    GgufWriter keys;
    keys.StringKey("tokenizer.ggml.model", "llama");
    keys.ArrayKey("tokenizer.ggml.tokens", ValueType::kString, tokens_);
    keys.ArrayKey("tokenizer.ggml.token_type", type, kinds);
    return keys;
  };
  ExpectError(with_kinds(ValueType::kFloat32, std::vector<float>(7, 1)), ErrorCode::kMalformedFile,
              "tokenizer.ggml.token_type");
  ExpectError(with_kinds(ValueType::kInt32, std::vector<int32_t>(6, 1)), ErrorCode::kMalformedFile,
              "tokenizer.ggml.token_type");
  ExpectError(with_kinds(ValueType::kInt32, std::vector<int32_t>(7, -1)), ErrorCode::kMalformedFile,
              "tokenizer.ggml.token_type");
  scores_.pop_back();
  ExpectError(Keys(), ErrorCode::kMalformedFile, "tokenizer.ggml.scores");
}

TEST_F(LoadTokenizerTest, Phi3sSpecialTokensTakeTheWhiteSpaceBehindThem) {
  EncodeOptions options;
  options.parse_special = true;
  GgufWriter keys = Keys();
  EXPECT_EQ(Load(keys)->Encode("<turn> a", options), (std::vector<TokenId>{1, 6, 3, 3, 4}));
  keys.StringKey("general.name", "My Phi-3 mini");
  EXPECT_EQ(Load(keys)->Encode("<turn> a", options), (std::vector<TokenId>{1, 6, 3, 4}));
  EXPECT_EQ(Load(keys)->Encode("<s> a", options), (std::vector<TokenId>{1, 1, 3, 3, 4}));
}

TEST_F(LoadTokenizerTest, EosIsAddedWhereTheFileSaysSo) {
  GgufWriter keys = Keys();
  keys.Key<uint8_t>("tokenizer.ggml.add_eos_token", ValueType::kBool, 1);
  EXPECT_EQ(Load(keys)->Encode("a", {}), (std::vector<TokenId>{1, 3, 4, 2}));
  EncodeOptions without;
  without.add_eos = false;
  EXPECT_EQ(Load(keys)->Encode("a", without), (std::vector<TokenId>{1, 3, 4}));
}

// Byte-level BPE: "a", "b" and "ab", the space as GPT-2 spells it, and an end.
GgufWriter BytePairKeys(const std::vector<std::string>& merges) {
  GgufWriter keys;
  keys.StringKey("tokenizer.ggml.model", "gpt2");
  keys.ArrayKey("tokenizer.ggml.tokens", ValueType::kString,
                std::vector<std::string>{"a", "b", "ab", "\xc4\xa0", "<|im_end|>"});
  keys.ArrayKey("tokenizer.ggml.token_type", ValueType::kInt32,
                std::vector<int32_t>{1, 1, 1, 1, 3});
  keys.ArrayKey("tokenizer.ggml.merges", ValueType::kString, merges);
  return keys;
}

TEST_F(LoadTokenizerTest, BytePairsAreReadWithTheirPreTokenizer) {
  GgufWriter keys = BytePairKeys({"a b"});
  const auto tokenizer = Load(keys);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->Encode("ab a", {}), (std::vector<TokenId>{2, 3, 0}));
  EXPECT_EQ(tokenizer->Decode(tokenizer->Encode("ab a", {})), "ab a");
  EXPECT_FALSE(tokenizer->bos().has_value());
  EXPECT_FALSE(tokenizer->eos().has_value());
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(4)) << "by its name";

  keys.Key<uint32_t>("tokenizer.ggml.bos_token_id", ValueType::kUint32, 4);
  keys.StringKey("tokenizer.ggml.pre", "gpt-2");
  EXPECT_EQ(Load(keys)->Encode("ab", {}), std::vector<TokenId>{2});
}

TEST_F(LoadTokenizerTest, WhatAPreTokenizersModelsDoIsKnownByItsName) {
  GgufWriter keys = BytePairKeys({});
  keys.Key<uint32_t>("tokenizer.ggml.bos_token_id", ValueType::kUint32, 4);
  keys.StringKey("tokenizer.ggml.pre", "llama-bpe");
  EXPECT_EQ(Load(keys)->Encode("ab", {}), (std::vector<TokenId>{4, 2}))
      << "BOS, and a word that is a token whatever the merges say";
  keys.Key<uint8_t>("tokenizer.ggml.add_bos_token", ValueType::kBool, 0);
  EXPECT_EQ(Load(keys)->Encode("ab", {}), std::vector<TokenId>{2});
}

TEST_F(LoadTokenizerTest, AnUnknownPreTokenizerIsNamedWithThoseThatAreKnown) {
  GgufWriter keys = BytePairKeys({"a b"});
  keys.StringKey("tokenizer.ggml.pre", "of-next-year");
  ExpectError(keys, ErrorCode::kUnsupportedModel, "of-next-year");
  ExpectError(keys, ErrorCode::kUnsupportedModel, "gpt-2, ");
  ExpectError(keys, ErrorCode::kUnsupportedModel, "qwen2");
}

TEST_F(LoadTokenizerTest, DamagedBytePairsAreNamed) {
  ExpectError(BytePairKeys({"ab"}), ErrorCode::kMalformedFile, "tokenizer.ggml.merges");
  ExpectError(BytePairKeys({"a c"}), ErrorCode::kMalformedFile, "tokenizer.ggml.merges");
  GgufWriter keys;
  keys.StringKey("tokenizer.ggml.model", "gpt2");
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.tokens");
  keys.ArrayKey("tokenizer.ggml.tokens", ValueType::kString, std::vector<std::string>{"a", "a"});
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.merges");
  keys.ArrayKey("tokenizer.ggml.merges", ValueType::kString, std::vector<std::string>{});
  ExpectError(keys, ErrorCode::kMalformedFile, "twice");
  keys = BytePairKeys({"a b"});
  keys.Key<uint32_t>("tokenizer.ggml.pre", ValueType::kUint32, 1);
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.pre");
  keys = BytePairKeys({"a b"});
  keys.Key<uint32_t>("tokenizer.ggml.unknown_token_id", ValueType::kUint32, 5);
  ExpectError(keys, ErrorCode::kMalformedFile, "tokenizer.ggml.unknown_token_id");
}

}  // namespace
}  // namespace kvasir
