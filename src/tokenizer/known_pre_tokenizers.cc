// The expressions are facts about models: those of each model's own tokenizer.json
// (https://huggingface.co), in the groups under which llama.cpp's converter names
// them (convert_hf_to_gguf_update.py). Where llama.cpp's engine has to approximate
// one, as for tekken and gpt-4o, this is the model's.
#include "tokenizer/known_pre_tokenizers.h"

#include <array>
#include <utility>

// Parts that several expressions share, as literals that the compiler can join.
#define KVASIR_CONTRACTION "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
#define KVASIR_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define KVASIR_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define KVASIR_LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define KVASIR_NEWLINES "|\\s*[\\r\\n]+"
#define KVASIR_SPACES "|\\s+(?!\\S)|\\s+"
#define KVASIR_GPT_2 "'(?:[stmd]|re|ve|ll)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+" KVASIR_SPACES
// Words, with `digits` in a group of digits.
#define KVASIR_CL100K(digits)                                \
  KVASIR_CONTRACTION "|" KVASIR_LEAD "\\p{L}+|\\p{N}" digits \
                     "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" KVASIR_NEWLINES KVASIR_SPACES
// Words that begin anew at a capital letter, with `end` behind a word.
#define KVASIR_O200K(end, digits)                                                                 \
  KVASIR_LEAD KVASIR_UPPER "*" KVASIR_LOWER "+" end "|" KVASIR_LEAD KVASIR_UPPER "+" KVASIR_LOWER \
                           "*" end "|\\p{N}" digits                                               \
                           "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" KVASIR_NEWLINES KVASIR_SPACES

namespace kvasir {
namespace {

using Expression = std::string_view;

constexpr Expression kDefault[] = {"[\\p{P}$+<=>^~|]+", KVASIR_GPT_2, "\\p{N}+", "[0-9]{3}"};
constexpr Expression kGpt2[] = {KVASIR_GPT_2};
constexpr Expression kStarCoder[] = {"\\p{N}", KVASIR_GPT_2};
constexpr Expression kFalcon[] = {"[\\p{P}$+<=>^~|`]+", KVASIR_GPT_2, "\\p{N}+", "[0-9]{3}"};
constexpr Expression kLlama3[] = {KVASIR_CL100K("{1,3}")};
constexpr Expression kQwen2[] = {KVASIR_CL100K("")};
constexpr Expression kQwen35[] = {
    KVASIR_CONTRACTION
    "|" KVASIR_LEAD
    "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" KVASIR_NEWLINES KVASIR_SPACES};
constexpr Expression kTekken[] = {KVASIR_O200K("", "")};
constexpr Expression kGpt4o[] = {KVASIR_O200K("(?:" KVASIR_CONTRACTION ")?", "{1,3}")};
constexpr Expression kSeedCoder[] = {
    KVASIR_CONTRACTION "|" KVASIR_LEAD
                       "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" KVASIR_NEWLINES KVASIR_SPACES};
constexpr Expression kBailing[] = {
    KVASIR_CONTRACTION "|" KVASIR_LEAD
                       "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]" KVASIR_SPACES};

constexpr Expression kDeepSeekCoder[] = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
                                         "[\\x{800}-\\x{9fa5}\\x{ac00}-\\x{d7ff}]+", "\\p{N}"};

// The letters are those with case of an older Unicode, without some blocks. Spaces
// at the end of a piece are found from their first one on, not from each of them.
constexpr Expression kDeepSeekLlm[] = {
    "[\\r\\n]",
    "\\s?[A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}"
    "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}\\x{37f}"
    "\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}\\x{3f7}-\\x{481}"
    "\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}"
    "\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}"
    "\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}"
    "\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}"
    "\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}"
    "\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}"
    "\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}"
    "\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}"
    "\\x{2145}-\\x{2149}\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}"
    "\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}"
    "\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}"
    "\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}"
    "\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}"
    "\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}]+",
    "\\s?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+",
    "(?<!\\s)\\s++\\z",
    "[\\x{800}-\\x{9fa5}\\x{ac00}-\\x{d7ff}]+",
    "\\p{N}"};

constexpr Expression kDeepSeekV3[] = {
    "\\p{N}{1,3}", "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{30ff}]+",
    "[!-/:-@\\[-`{-~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
    "?[\\p{P}\\p{S}]+[\\r\\n]*" KVASIR_NEWLINES KVASIR_SPACES};

constexpr KnownPreTokenizer kNoMerges = {kLlama3, true, true};

constexpr std::pair<std::string_view, KnownPreTokenizer> kKnown[] = {
    {"default", {kDefault}},
    {"gpt-2", {kGpt2}},
    {"mpt", {kGpt2}},
    {"olmo", {kGpt2}},
    {"phi-2", {kGpt2}},
    {"jais", {kGpt2}},
    {"exaone4", {kGpt2}},
    {"gigachat", {kGpt2}},
    {"mellum", {kGpt2}},
    {"trillion", {kGpt2}},
    {"a.x-4.0", {kGpt2}},
    {"granite-docling", {kGpt2}},
    {"starcoder", {kStarCoder}},
    {"refact", {kStarCoder}},
    {"smollm", {kStarCoder}},
    {"codeshell", {kStarCoder}},
    {"command-r", {kStarCoder}},
    {"exaone", {kStarCoder}},
    {"minerva-7b", {kStarCoder}},
    {"falcon", {kFalcon}},
    {"llama-bpe", kNoMerges},
    {"llama3", kNoMerges},
    {"llama-v3", kNoMerges},
    {"falcon3", kNoMerges},
    {"falcon-h1", kNoMerges},
    {"pixtral", kNoMerges},
    {"midm-2.0", kNoMerges},
    {"lfm2", kNoMerges},
    {"smaug-bpe", {kLlama3}},
    {"dbrx", {kLlama3}},
    {"chatglm-bpe", {kLlama3}},
    {"glm4", {kLlama3}},
    {"qwen2", {kQwen2}},
    {"deepseek-r1-qwen", {kQwen2}},
    {"kormo", {kQwen2}},
    {"megrez", {kQwen2}},
    {"stablelm2", {kQwen2}},
    {"hunyuan", {kQwen2}},
    {"solar-open", {kQwen2}},
    {"grok-2", {kQwen2}},
    {"qwen35", {kQwen35}},
    {"tekken", {kTekken, true, true}},
    {"gpt-4o", {kGpt4o}},
    {"llama4", {kGpt4o}},
    {"kanana2", {kGpt4o}},
    {"minimax-m2", {kGpt4o}},
    {"seed-coder", {kSeedCoder}},
    {"bailingmoe", {kBailing}},
    {"bailingmoe2", {kBailing}},
    {"llada-moe", {kBailing}},
    {"deepseek-coder", {kDeepSeekCoder}},
    {"deepseek-llm", {kDeepSeekLlm}},
    {"deepseek-v3", {kDeepSeekV3}},
    {"hunyuan-dense", {kDeepSeekV3}},
    {"joyai-llm", {kDeepSeekV3}},
};

}  // namespace

const KnownPreTokenizer* FindPreTokenizer(std::string_view name) {
  for (const auto& [known, pre_tokenizer] : kKnown) {
    if (known == name) return &pre_tokenizer;
  }
  return nullptr;
}

std::string PreTokenizerNames() {
  std::string names;
  for (const auto& entry : kKnown) {
    if (!names.empty()) names += ", ";
    names += entry.first;
  }
  return names;
}

}  // namespace kvasir
