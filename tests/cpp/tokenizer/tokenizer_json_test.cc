// Small tokenizer.json files of each kind; real ones: tests/node/real-vocabularies.test.ts.
#include "tokenizer/tokenizer_json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kvasir {
namespace {

using Ids = std::vector<TokenId>;

// Ids: the characters of "▁abcd" are 3 to 7, merges follow; bytes from 20.
std::string CharacterModel(const std::string& more, bool bytes) {
  std::string vocab = R"("<unk>":0,"<s>":1,"</s>":2,"▁":3,"a":4,"b":5,"c":6,"d":7,"ab":8,"▁ab":9)";
  for (int i = 0; bytes && i < 256; ++i) {
    char spelling[16];
    std::snprintf(spelling, sizeof(spelling), "<0x%02X>", static_cast<unsigned>(i));
    vocab += ",\"" + std::string(spelling) + "\":" + std::to_string(20 + i);
  }
  return R"({"added_tokens":[{"id":0,"content":"<unk>","special":true},)"
         R"({"id":1,"content":"<s>","special":true},{"id":2,"content":"</s>","special":true},)"
         R"({"id":300,"content":"<x>","special":false,"lstrip":true,"rstrip":true}],)" +
         more + R"("model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":)" +
         (bytes ? "true" : "false") + ",\"vocab\":{" + vocab +
         R"(},"merges":[["a","b"],["▁","ab"]]}})";
}

const std::string kPrepend =
    R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
    R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},)";

std::string Metaspace(const std::string& scheme, bool split) {
  return R"("pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":")" + scheme +
         R"(","split":)" + (split ? "true" : "false") + "},";
}

// Bytes of "abc" and a space, spelled as GPT-2 does.
std::string ByteModel(const std::string& more, const std::string& model = "") {
  return R"({"added_tokens":[{"id":6,"content":"<s>","special":true},)"
         R"({"id":7,"content":"<think>","special":false}],)" +
         more + R"("model":{"type":"BPE",)" + model +
         R"("vocab":{"a":0,"b":1,"c":2,"Ġ":3,"ab":4,"Ġa":5},"merges":["a b","Ġ a"]}})";
}

const std::string kByteLevel =
    R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},)";

std::unique_ptr<Tokenizer> Make(const std::string& json, const TokenizerJsonOptions& options = {}) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = MakeTokenizerFromJson(json, options);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

Ids Encode(const std::string& json, std::string_view text, bool special = true) {
  const auto tokenizer = Make(json);
  return tokenizer == nullptr ? Ids() : tokenizer->Encode(text, {std::nullopt, special});
}

TEST(TokenizerJsonTest, CharactersMergeBehindAPrependedSpace) {
  const std::string json = CharacterModel(kPrepend, true);
  EXPECT_EQ(Encode(json, "ab ab"), (Ids{9, 9}));
  EXPECT_EQ(Encode(json, "ab<s>ab"), (Ids{9, 1, 9})) << "a space goes before each part";
  EXPECT_EQ(Encode(json, " ab"), (Ids{3, 9}));
  EXPECT_EQ(Encode(json, "aé"), (Ids{3, 4, 20 + 0xc3, 20 + 0xa9}));
  EXPECT_EQ(Encode(json, "▁ab"), (Ids{3, 9})) << "a mark in the text is a space";
  const auto tokenizer = Make(json);
  for (const std::string text : {"ab ab", " a  b", "日本", "a\nb"}) {
    EXPECT_EQ(tokenizer->Decode(tokenizer->Encode(text, {})), text);
  }
}

TEST(TokenizerJsonTest, MergesMayGiveAddedTokensThatTextDoesNotSpell) {
  std::string json = CharacterModel(
      R"("normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},)", true);
  json.replace(json.find(R"({"id":300)"), 0, R"({"id":301,"content":"▁▁","special":false},)");
  json.replace(json.find(R"("▁ab":9)"), 0, R"("▁▁":301,)");
  json.replace(json.find(R"(["a","b"])"), 0, R"(["▁","▁"],)");
  EXPECT_EQ(Encode(json, "a  b"), (Ids{4, 301, 5}));
}

TEST(TokenizerJsonTest, CharactersWithoutTokensAreOneUnknownToken) {
  const std::string json = CharacterModel(kPrepend, false);
  EXPECT_EQ(Encode(json, "aéèb"), (Ids{3, 4, 0, 5}));
  std::string apart = json;
  apart.replace(apart.find("\"fuse_unk\":true"), 15, "\"fuse_unk\":false");
  EXPECT_EQ(Encode(apart, "aéèb"), (Ids{3, 4, 0, 0, 5}));
}

TEST(TokenizerJsonTest, MetaspacePutsASpaceWhereItsSchemeSays) {
  EXPECT_EQ(Encode(CharacterModel(Metaspace("always", true), true), "ab<s>ab"), (Ids{9, 1, 9}));
  EXPECT_EQ(Encode(CharacterModel(Metaspace("first", true), true), "ab<s>ab"), (Ids{9, 1, 8}));
  EXPECT_EQ(Encode(CharacterModel(Metaspace("first", true), true), "<s>ab"), (Ids{1, 8}));
  EXPECT_EQ(Encode(CharacterModel(Metaspace("never", true), true), "ab<s>ab"), (Ids{8, 1, 8}));
  EXPECT_EQ(Encode(CharacterModel(Metaspace("always", false), true), " ab"), Ids{9})
      << "where there is one, none is added";
}

TEST(TokenizerJsonTest, AddedTokensTakeTheSpacesThatAreTheirs) {
  EXPECT_EQ(Encode(CharacterModel(Metaspace("never", true), true), "a  <x> \n b"),
            (Ids{4, 300, 5}));
  EXPECT_EQ(Encode(ByteModel(kByteLevel), "a<think>b"), (Ids{0, 7, 1}));
  EXPECT_EQ(Encode(ByteModel(kByteLevel), "a<think>b", false), (Ids{0, 7, 1}))
      << "those that are not special are always found";
  EXPECT_NE(Encode(ByteModel(kByteLevel), "a<s>b", false), (Ids{0, 6, 1}));
}

TEST(TokenizerJsonTest, ASingleWordIsNotFoundWithinAnother) {
  std::string json = ByteModel(kByteLevel);
  json.replace(json.find(R"({"id":7)"), 0, R"({"id":8,"content":"bb","single_word":true},)");
  EXPECT_EQ(Encode(json, "bb"), (Ids{8}));
  EXPECT_EQ(Encode(json, "a bb c"), (Ids{0, 3, 8, 3, 2}));
  EXPECT_EQ(Encode(json, "abb"), (Ids{4, 1})) << "letters before it";
  EXPECT_EQ(Encode(json, "bba"), (Ids{1, 1, 0})) << "and behind it";
  EXPECT_EQ(Encode(json, "bbb"), (Ids{1, 1, 1}));
  EXPECT_EQ(Encode(json, "<think>bb<s>"), (Ids{7, 8, 6})) << "signs are no letters";
}

// What is normalized may have a space before it; what is not goes first.
TEST(TokenizerJsonTest, NormalizedTokensAreFoundInNormalizedText) {
  std::string json = CharacterModel(kPrepend, true);
  json.replace(json.find(R"({"id":300)"), 0,
               R"({"id":301,"content":"cd","special":false,"normalized":true},)"
               R"({"id":302,"content":"dd","special":false,"normalized":false},)");
  EXPECT_EQ(Encode(json, "cd"), (Ids{301})) << "the space before a text is the token's";
  EXPECT_EQ(Encode(json, "ab cd ab"), (Ids{9, 301, 9}));
  EXPECT_EQ(Encode(json, "abcd"), (Ids{9, 6, 7})) << "no space before it";
  EXPECT_EQ(Encode(json, "abdd"), (Ids{9, 302}));
  EXPECT_EQ(Encode(json, "cdd"), (Ids{3, 6, 302})) << "what is not normalized is found first";
}

TEST(TokenizerJsonTest, WordsAreCutByEachKindOfPreTokenizer) {
  EXPECT_EQ(Encode(ByteModel(kByteLevel), "ab ab"), (Ids{4, 3, 4}));
  const auto split = [](const std::string& pattern, const std::string& behavior, bool invert) {
    return R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{)" +
           pattern + R"(},"behavior":")" + behavior + R"(","invert":)" +
           (invert ? "true" : "false") +
           R"(},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)";
  };
  EXPECT_EQ(Encode(ByteModel(split(R"("Regex":"b")", "Isolated", false)), "ab a"), (Ids{0, 1, 5}));
  EXPECT_EQ(Encode(ByteModel(split(R"("Regex":"a+")", "Removed", true)), "ab a"), (Ids{0, 0}));
  EXPECT_EQ(Encode(ByteModel(split(R"("String":"b")", "Isolated", false)), "ab"), (Ids{0, 1}));
  const std::string prefix = R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},)";
  EXPECT_EQ(Encode(ByteModel(prefix), "ab"), (Ids{3, 4}));
  EXPECT_EQ(Encode(ByteModel(prefix), " ab"), (Ids{3, 4}));
}

TEST(TokenizerJsonTest, AWordThatIsATokenIgnoresMergesWhereTheModelDoes) {
  const std::string json = R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},)"
                           R"("model":{"type":"BPE","ignore_merges":IGNORE,"vocab":{"a":0,"b":1,)"
                           R"("c":2,"ab":3,"bc":4,"abc":5},"merges":["b c"]}})";
  const auto with = [&](const std::string& value) {
    std::string text = json;
    return text.replace(text.find("IGNORE"), 6, value);
  };
  EXPECT_EQ(Encode(with("true"), "abc"), Ids{5});
  EXPECT_EQ(Encode(with("false"), "abc"), (Ids{0, 4}));
}

TEST(TokenizerJsonTest, TheTemplateSaysWhatStandsBeforeAndBehind) {
  const std::string both =
      R"("post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},)"
      R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},)"
      R"({"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"<think>","type_id":0}}]}]},)";
  const std::string json = ByteModel(kByteLevel + both);
  EXPECT_EQ(Encode(json, "a"), (Ids{6, 0, 7}));
  TokenizerJsonOptions options;
  options.add_bos = false;
  options.add_eos = false;
  EXPECT_EQ(Make(json, options)->Encode("a", {}), Ids{0});
  options = {};
  options.bos_token = "<s>";
  options.eos_ids = {7, 4};
  options.add_bos = true;
  const auto tokenizer = Make(ByteModel(kByteLevel), options);
  EXPECT_EQ(tokenizer->Encode("a", {}), (Ids{6, 0}));
  EXPECT_EQ(tokenizer->eos(), 7);
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(4));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(6));
}

TEST(TokenizerJsonTest, TextBetweenSpecialTokensIsNormalizedWhereTheFileAsksForIt) {
  TokenizerJsonOptions options;
  options.nfc = [](std::string_view text) { return "b" + std::string(text); };
  const std::string nfc = R"("normalizer":{"type":"NFC"},)";
  const auto tokenizer = Make(ByteModel(nfc + kByteLevel), options);
  EXPECT_EQ(tokenizer->Encode("a<s>c", {std::nullopt, true}), (Ids{1, 0, 6, 1, 2}));
  EXPECT_EQ(Make(ByteModel(kByteLevel), options)->Encode("a", {}), Ids{0});
}

TEST(TokenizerJsonTest, WhatThisBuildDoesNotHaveIsNamed) {
  const auto expect = [](const std::string& json, const std::string& named) {
    const Result<std::unique_ptr<Tokenizer>> tokenizer = MakeTokenizerFromJson(json, {});
    ASSERT_FALSE(tokenizer.ok()) << json;
    EXPECT_EQ(tokenizer.status().code(), ErrorCode::kUnsupportedModel);
    EXPECT_NE(tokenizer.status().message().find(named), std::string::npos)
        << tokenizer.status().message();
  };
  expect(R"({"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"WordPiece","vocab":{}}})",
         "WordPiece");
  expect(ByteModel(R"("normalizer":{"type":"BertNormalizer"},)" + kByteLevel), "BertNormalizer");
  expect(ByteModel(R"("pre_tokenizer":{"type":"Whitespace"},)"), "Whitespace");
  expect(ByteModel(
             R"("pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"Removed"},)"),
         "Removed");
  expect(ByteModel(kByteLevel, R"("end_of_word_suffix":"</w>",)"), "end_of_word_suffix");
  expect(ByteModel(""), "ByteLevel");
}

TEST(TokenizerJsonTest, FilesThatAreWrongAreRefused) {
  const auto expect = [](const std::string& json, const std::string& named) {
    const Result<std::unique_ptr<Tokenizer>> tokenizer = MakeTokenizerFromJson(json, {});
    ASSERT_FALSE(tokenizer.ok()) << json;
    EXPECT_EQ(tokenizer.status().code(), ErrorCode::kMalformedFile) << json;
    EXPECT_NE(tokenizer.status().message().find(named), std::string::npos)
        << tokenizer.status().message();
  };
  const auto with = [](const std::string& vocab, const std::string& merges) {
    return "{" + kByteLevel + R"("model":{"type":"BPE","vocab":)" + vocab + R"(,"merges":)" +
           merges + "}}";
  };
  expect("{}", "no model");
  expect(with("[]", "[]"), "vocab");
  expect(with("{}", "[]"), "empty");
  expect(with(R"({"a":99999999})", "[]"), "must lie");
  expect(with(R"({"a":0,"b":0})", "[]"), "two tokens");
  expect(with(R"({"a":0})", R"(["a a"])"), "merge 0");
  expect(with(R"({"a":0})", R"([["a"]])"), "merge");
  expect(with(R"({"a":0,"b":1,"ab":2})", R"(["a b",["a","b"]])"), "pairs");
  expect(R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":)"
         R"({"Regex":"("},"behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false}]},)"
         R"("model":{"vocab":{"a":0},"merges":[]}})",
         "pattern");
}

TEST(TokenizerJsonTest, DamagedFilesGiveAnErrorOrATokenizerThatWorks) {
  std::mt19937 random(5);
  for (const std::string& json :
       {CharacterModel(kPrepend, false), CharacterModel(Metaspace("first", true), false),
        ByteModel(kByteLevel)}) {
    for (int i = 0; i < 3000; ++i) {
      std::string damaged = json;
      if (i % 3 == 0) damaged.resize(random() % json.size());
      for (int flips = static_cast<int>(random() % 4); flips > 0 && !damaged.empty(); --flips) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      }
      const Result<std::unique_ptr<Tokenizer>> tokenizer = MakeTokenizerFromJson(damaged, {});
      if (!tokenizer.ok()) {
        EXPECT_FALSE(tokenizer.status().message().empty());
        continue;
      }
      for (TokenId id : (*tokenizer)->Encode("ab c <s> é", {true, true})) {
        EXPECT_TRUE(id >= 0 && id < (*tokenizer)->vocab_size());
      }
    }
  }
}

}  // namespace
}  // namespace kvasir
