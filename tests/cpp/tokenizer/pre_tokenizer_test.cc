// How texts are cut into words, by each kind of model.
#include "tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tokenizer/known_pre_tokenizers.h"
#include "tokenizer/pattern.h"

namespace kvasir {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kNames[] = {
    "default",   "gpt-2",  "llama-bpe", "smaug-bpe",    "qwen2",          "qwen35",      "smollm",
    "starcoder", "refact", "falcon",    "deepseek-llm", "deepseek-coder", "deepseek-v3", "mpt",
    "tekken",    "gpt-4o", "llama4",    "seed-coder",   "bailingmoe"};

PreTokenizer Make(std::string_view name) {
  const KnownPreTokenizer* known = FindPreTokenizer(name);
  EXPECT_NE(known, nullptr) << name;
  Result<PreTokenizer> made = PreTokenizer::Create(known->expressions);
  EXPECT_TRUE(made.ok()) << name << ": " << made.status().message();
  return *std::move(made);
}

Words Split(std::string_view name, std::string_view text) {
  Words words;
  Make(name).Split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

TEST(PreTokenizerTest, Gpt2KeepsASpaceWithTheWordBehindIt) {
  EXPECT_EQ(Split("gpt-2", "Hello world's  12345 (x)\n\n y"),
            (Words{"Hello", " world", "'s", " ", " 12345", " (", "x", ")", "\n\n", " y"}));
  EXPECT_EQ(Split("gpt-2", "IT'S a\n"), (Words{"IT", "'", "S", " a", "\n"}));
}

TEST(PreTokenizerTest, StarCoderCutsDigits) {
  EXPECT_EQ(Split("starcoder", "a 123b"), (Words{"a", " ", "1", "2", "3", "b"}));
}

TEST(PreTokenizerTest, FalconCutsPunctuationAndThreeDigits) {
  EXPECT_EQ(Split("falcon", "a `x` 12345"), (Words{"a", " ", "`", "x", "`", " ", "123", "45"}));
  EXPECT_EQ(Split("default", "a `x` 1234"), (Words{"a", " `", "x", "`", " ", "123", "4"}));
}

TEST(PreTokenizerTest, Llama3TakesThreeDigitsAndQwenOne) {
  const std::string text = "I'M \tdone 1234!\r\n  ok";
  EXPECT_EQ(Split("llama-bpe", text),
            (Words{"I", "'M", " ", "\tdone", " ", "123", "4", "!\r\n", " ", " ok"}));
  EXPECT_EQ(Split("qwen2", text),
            (Words{"I", "'M", " ", "\tdone", " ", "1", "2", "3", "4", "!\r\n", " ", " ok"}));
  EXPECT_EQ(Split("smaug-bpe", text), Split("llama-bpe", text));
}

TEST(PreTokenizerTest, MarksBelongToWordsInQwen35) {
  EXPECT_EQ(Split("qwen2",
                  "e\xcc\x81"
                  "a"),
            (Words{"e",
                   "\xcc\x81"
                   "a"}));
  EXPECT_EQ(Split("qwen35",
                  "e\xcc\x81"
                  "a"),
            Words{"e\xcc\x81"
                  "a"});
}

TEST(PreTokenizerTest, Gpt4oCutsBeforeCapitalsAndKeepsContractions) {
  EXPECT_EQ(Split("gpt-4o", "HelloWorld's XMLHttp 1234/"),
            (Words{"Hello", "World's", " XMLHttp", " ", "123", "4", "/"}));
  EXPECT_EQ(Split("llama4", "ПриветМир"), (Words{"Привет", "Мир"}));
  EXPECT_EQ(Split("tekken", "HelloWorld's 12"), (Words{"Hello", "World", "'s", " ", "1", "2"}));
}

TEST(PreTokenizerTest, DeepSeekCutsScriptsApart) {
  EXPECT_EQ(Split("deepseek-coder", "a b中文12\n\xe3\x80\x82"),
            (Words{"a", " b", "中文", "1", "2", "\n", "。"}));
  EXPECT_EQ(Split("deepseek-llm", "ab中文c12  \n"),
            (Words{"ab", "中文", "c", "1", "2", "  ", "\n"}));
  EXPECT_EQ(Split("deepseek-llm", "x  "), (Words{"x", "  "}));
  EXPECT_EQ(Split("deepseek-v3", "1234中文.abc ok\x01"),
            (Words{"123", "4", "中文", ".abc", " ok", "\x01"}));
}

TEST(PreTokenizerTest, WhiteSpaceIsUnicodes) {
  // U+180E is none, which PCRE2's own \s would take.
  EXPECT_EQ(Split("gpt-2",
                  "a\xc2\x85\xe3\x80\x80"
                  "b\xe1\xa0\x8e"),
            (Words{"a", "\xc2\x85", "\xe3\x80\x80", "b", "\xe1\xa0\x8e"}));
}

TEST(PreTokenizerTest, WordsAddUpToTheText) {
  std::mt19937 random(9);
  const Words parts = {"a",
                       "Z",
                       " ",
                       "\n",
                       "\r",
                       "\t",
                       "1",
                       "'",
                       "s",
                       "!",
                       "中",
                       "é",
                       "\xcc\x81",
                       "\xc2\xa0",
                       "😀",
                       "_",
                       "ll",
                       "/",
                       "\xc2\x85",
                       "か",
                       "\xe2\x80\x8d",
                       "\xf0\x9d\x9f\x98",
                       "\x01",
                       "Ж"};
  for (const char* name : kNames) {
    const PreTokenizer pre_tokenizer = Make(name);
    for (int round = 0; round < 200; ++round) {
      std::string text;
      for (size_t i = random() % 30; i > 0; --i) text += parts[random() % parts.size()];
      std::string joined;
      pre_tokenizer.Split(text, [&](std::string_view word) {
        EXPECT_FALSE(word.empty());
        joined += word;
      });
      ASSERT_EQ(joined, text) << name;
    }
  }
}

// Would not end in a quadratic time, nor stay within PCRE2's usual limits.
TEST(PreTokenizerTest, LongRunsOfOneKindAreCut) {
  constexpr size_t kLength = 1 << 18;
  for (const char* name : kNames) {
    const PreTokenizer pre_tokenizer = Make(name);
    for (const std::string part :
         {"a", "A", " ", "\n", "!", "7", "中", "\xcc\x81", "'", " \n", "Aa"}) {
      std::string text;
      while (text.size() < kLength) text += part;
      text += part == " " ? "x" : "";
      size_t sum = 0;
      pre_tokenizer.Split(text, [&](std::string_view word) { sum += word.size(); });
      EXPECT_EQ(sum, text.size()) << name;
    }
  }
}

TEST(PreTokenizerTest, NamesAreListedAndOthersAreNone) {
  EXPECT_EQ(FindPreTokenizer("gpt-5"), nullptr);
  EXPECT_EQ(FindPreTokenizer(""), nullptr);
  const std::string names = PreTokenizerNames();
  for (const char* name : kNames) EXPECT_NE(names.find(name), std::string::npos) << name;
}

TEST(PatternTest, SaysWhereAnExpressionIsWrong) {
  const Result<Pattern> pattern = Pattern::Compile("a(b");
  ASSERT_FALSE(pattern.ok());
  EXPECT_EQ(pattern.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(pattern.status().message().find("a(b"), std::string::npos);
  EXPECT_FALSE(Pattern::Compile("\\").ok());
}

TEST(PatternTest, AnEmptyMatchIsNone) {
  const Result<Pattern> pattern = Pattern::Compile("x*");
  ASSERT_TRUE(pattern.ok());
  MatchScratch scratch;
  EXPECT_FALSE(pattern->Find("aaa", 0, scratch).has_value());
  EXPECT_FALSE(pattern->Find("", 0, scratch).has_value());
  EXPECT_EQ(pattern->Find("axx", 0, scratch)->begin, 1u);
}

}  // namespace
}  // namespace kvasir
