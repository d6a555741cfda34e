#include "runtime/load_tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/byte_pair_tokenizer.h"
#include "tokenizer/known_pre_tokenizers.h"
#include "tokenizer/sentencepiece_tokenizer.h"
#include "tokenizer/tokenizer_json.h"

namespace kvasir {
namespace {

// How models spell the end of a turn, for files that do not name it by id.
constexpr std::array<std::string_view, 17> kEndOfTurnNames = {
    "<|end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<|end_of_turn|>",
    "<end_of_utterance>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|call|>",
    "<EOT>",
    "<eos>",
    "</s>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>"};

bool IsInteger(ValueType type) { return type == ValueType::kInt32 || type == ValueType::kUint32; }

// The id at `key`, or `fallback` without it.
Result<TokenId> Id(const Metadata& metadata, std::string_view key, TokenId fallback) {
  const Result<int64_t> id = metadata.IntOr(key, fallback);
  if (!id.ok()) return id.status();
  if (*id < 0 || *id > std::numeric_limits<TokenId>::max()) return kNoToken;
  return static_cast<TokenId>(*id);
}

Status ReadStrings(const Metadata& metadata, std::string_view key,
                   std::vector<std::string_view>& strings) {
  const Result<const MetadataArray*> array = metadata.Array(key, ValueType::kString);
  if (!array.ok()) return array.status();
  strings.reserve(static_cast<size_t>((*array)->size()));
  for (int64_t i = 0; i < (*array)->size(); ++i) strings.push_back((*array)->String(i));
  return Status();
}

Status ReadTokens(const Metadata& metadata, Vocabulary& vocabulary) {
  if (Status status = ReadStrings(metadata, "tokenizer.ggml.tokens", vocabulary.tokens);
      !status.ok()) {
    return status;
  }
  const auto types = metadata.values().find("tokenizer.ggml.token_type");
  if (types == metadata.values().end()) return Status();
  const MetadataArray* kinds = std::get_if<MetadataArray>(&types->second);
  if (kinds == nullptr || !IsInteger(kinds->element_type())) {
    return MalformedFile("key tokenizer.ggml.token_type must be an array of 32-bit integers");
  }
  for (int64_t i = 0; i < kinds->size(); ++i) {
    vocabulary.kinds.push_back(static_cast<int32_t>(kinds->Int(i)));
  }
  return Status();
}

Status ReadScores(const Metadata& metadata, std::vector<float>& scores) {
  if (!metadata.Has("tokenizer.ggml.scores")) return Status();
  const Result<const MetadataArray*> array =
      metadata.Array("tokenizer.ggml.scores", ValueType::kFloat32);
  if (!array.ok()) return array.status();
  for (int64_t i = 0; i < (*array)->size(); ++i) {
    scores.push_back(static_cast<float>((*array)->Float(i)));
  }
  return Status();
}

bool IsOfKind(const Vocabulary& vocabulary, TokenId id, TokenKind kind) {
  const size_t i = static_cast<size_t>(id);
  return i < vocabulary.kinds.size() && vocabulary.kinds[i] == static_cast<int32_t>(kind);
}

// `id`, unless the vocabulary says that this is another kind of token.
TokenId IfOfKind(const Vocabulary& vocabulary, TokenId id, TokenKind kind) {
  if (id < 0 || static_cast<size_t>(id) >= vocabulary.tokens.size()) return kNoToken;
  return vocabulary.kinds.empty() || IsOfKind(vocabulary, id, kind) ? id : kNoToken;
}

TokenId FirstOfKind(const Vocabulary& vocabulary, TokenKind kind) {
  const auto found =
      std::find(vocabulary.kinds.begin(), vocabulary.kinds.end(), static_cast<int32_t>(kind));
  if (found == vocabulary.kinds.end()) return kNoToken;
  return static_cast<TokenId>(found - vocabulary.kinds.begin());
}

// What `vocabulary` has already is what a file means that does not say.
Status ReadIdsAndSwitches(const Metadata& metadata, Vocabulary& vocabulary) {
  struct Field {
    std::string_view key;
    TokenId& id;
  };
  TokenId end_of_turn = kNoToken;
  TokenId end_of_message = kNoToken;
  const Field fields[] = {
      {"tokenizer.ggml.bos_token_id", vocabulary.bos},
      {"tokenizer.ggml.eos_token_id", vocabulary.eos},
      {"tokenizer.ggml.unknown_token_id", vocabulary.unknown},
      {"tokenizer.ggml.eot_token_id", end_of_turn},
      {"tokenizer.ggml.eom_token_id", end_of_message},
  };
  for (const Field& field : fields) {
    const Result<TokenId> id = Id(metadata, field.key, field.id);
    if (!id.ok()) return id.status();
    field.id = *id;
  }
  for (TokenId id : {end_of_turn, end_of_message}) {
    if (id != kNoToken) vocabulary.end_of_generation.push_back(id);
  }
  const std::pair<std::string_view, bool&> switches[] = {
      {"tokenizer.ggml.add_bos_token", vocabulary.add_bos},
      {"tokenizer.ggml.add_eos_token", vocabulary.add_eos},
  };
  for (const auto& [key, value] : switches) {
    const Result<bool> read = metadata.BoolOr(key, value);
    if (!read.ok()) return read.status();
    value = *read;
  }
  return Status();
}

// Phi-3's special tokens take the white space after them, which its files do not
// say; nor that three do not. Source: its tokenizer.json, and llama.cpp.
void StripAfterPhi3(const Metadata& metadata, Vocabulary& vocabulary) {
  std::string name(metadata.Text("general.name"));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos) return;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string_view token = vocabulary.tokens[i];
    const bool strips = token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
    if (strips) vocabulary.strip_right.push_back(static_cast<TokenId>(i));
  }
}

Result<std::unique_ptr<Tokenizer>> LoadSentencePiece(const Metadata& metadata) {
  SentencePieceVocabulary vocabulary;
  if (Status status = ReadTokens(metadata, vocabulary); !status.ok()) return status;
  if (Status status = ReadScores(metadata, vocabulary.scores); !status.ok()) return status;
  // Llama's ids, if they can be.
  const TokenId unknown = FirstOfKind(vocabulary, TokenKind::kUnknown);
  vocabulary.bos = IfOfKind(vocabulary, vocabulary.bos, TokenKind::kControl);
  vocabulary.eos = IfOfKind(vocabulary, vocabulary.eos, TokenKind::kControl);
  vocabulary.unknown =
      unknown != kNoToken ? unknown : IfOfKind(vocabulary, vocabulary.unknown, TokenKind::kUnknown);
  if (Status status = ReadIdsAndSwitches(metadata, vocabulary); !status.ok()) return status;
  AddEndsByName(kEndOfTurnNames, vocabulary);
  StripAfterPhi3(metadata, vocabulary);
  const Result<bool> add_space = metadata.BoolOr("tokenizer.ggml.add_space_prefix", true);
  if (!add_space.ok()) return add_space.status();
  vocabulary.add_space_prefix = *add_space;
  return MakeSentencePieceTokenizer(vocabulary);
}

Result<std::unique_ptr<Tokenizer>> LoadBytePairs(const Metadata& metadata) {
  const Result<std::string_view> name = metadata.StringOr("tokenizer.ggml.pre", "default");
  if (!name.ok()) return name.status();
  const KnownPreTokenizer* pre_tokenizer = FindPreTokenizer(*name);
  if (pre_tokenizer == nullptr) {
    return UnsupportedModel("pre-tokenizer \"" + std::string(*name) +
                            "\" (tokenizer.ggml.pre) is not supported; this build has " +
                            PreTokenizerNames());
  }
  BytePairVocabulary vocabulary;
  vocabulary.expressions.assign(pre_tokenizer->expressions.begin(),
                                pre_tokenizer->expressions.end());
  vocabulary.ignore_merges = pre_tokenizer->ignore_merges;
  vocabulary.add_bos = pre_tokenizer->add_bos;
  if (Status status = ReadTokens(metadata, vocabulary); !status.ok()) return status;
  if (Status status = ReadStrings(metadata, "tokenizer.ggml.merges", vocabulary.merges);
      !status.ok()) {
    return status;
  }
  if (Status status = ReadIdsAndSwitches(metadata, vocabulary); !status.ok()) return status;
  AddEndsByName(kEndOfTurnNames, vocabulary);
  return MakeBytePairTokenizer(vocabulary);
}

// All ids that end a generation, from a key that only folders have.
Status ReadEosIds(const Metadata& metadata, std::vector<TokenId>& ids) {
  constexpr std::string_view kKey = "tokenizer.ggml.eos_token_ids";
  if (!metadata.Has(kKey)) return Status();
  const Result<const MetadataArray*> array = metadata.Array(kKey, ValueType::kInt32);
  if (!array.ok()) return array.status();
  for (int64_t i = 0; i < (*array)->size(); ++i) {
    ids.push_back(static_cast<TokenId>((*array)->Int(i)));
  }
  return Status();
}

Status ReadSwitch(const Metadata& metadata, std::string_view key, std::optional<bool>& value) {
  if (!metadata.Has(key)) return Status();
  const Result<bool> read = metadata.Bool(key);
  if (!read.ok()) return read.status();
  value = *read;
  return Status();
}

Result<std::unique_ptr<Tokenizer>> LoadJson(const Metadata& metadata, const Normalize& nfc) {
  TokenizerJsonOptions options;
  options.nfc = nfc;
  options.end_of_turn_names = kEndOfTurnNames;
  const Result<std::string_view> json = metadata.String("tokenizer.huggingface.json");
  if (!json.ok()) return json.status();
  options.bos_token = metadata.Text("tokenizer.huggingface.bos_token");
  options.eos_token = metadata.Text("tokenizer.huggingface.eos_token");
  const Result<TokenId> bos_id = Id(metadata, "tokenizer.ggml.bos_token_id", kNoToken);
  if (!bos_id.ok()) return bos_id.status();
  if (*bos_id != kNoToken) options.bos_id = *bos_id;
  if (Status status = ReadEosIds(metadata, options.eos_ids); !status.ok()) return status;
  for (const auto& [key, value] : {std::pair("tokenizer.ggml.add_bos_token", &options.add_bos),
                                   std::pair("tokenizer.ggml.add_eos_token", &options.add_eos)}) {
    if (Status status = ReadSwitch(metadata, key, *value); !status.ok()) return status;
  }
  return MakeTokenizerFromJson(*json, options);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> LoadTokenizer(const Metadata& metadata, const Normalize& nfc) {
  if (metadata.Has("tokenizer.huggingface.json") && !metadata.Has("tokenizer.ggml.model")) {
    return LoadJson(metadata, nfc);
  }
  if (metadata.Has("tokenizer.huggingface.model")) {
    const Result<std::string_view> proto = metadata.String("tokenizer.huggingface.model");
    if (!proto.ok()) return proto.status();
    std::vector<TokenId> eos_ids;
    if (Status status = ReadEosIds(metadata, eos_ids); !status.ok()) return status;
    return MakeSentencePieceTokenizer(*proto, eos_ids);
  }
  const Result<std::string_view> model = metadata.String("tokenizer.ggml.model");
  if (!model.ok()) return model.status();
  if (*model == "llama") return LoadSentencePiece(metadata);
  if (*model == "gpt2") return LoadBytePairs(metadata);
  return UnsupportedModel("vocabulary kind \"" + std::string(*model) +
                          "\" is not supported; this build has llama (SentencePiece) and gpt2 "
                          "(byte-level BPE)");
}

std::string VocabularyKind(const Metadata& metadata) {
  for (const std::string name : {"json", "model"}) {
    if (metadata.Has("tokenizer.huggingface." + name)) return "tokenizer." + name;
  }
  const std::string model(metadata.Text("tokenizer.ggml.model"));
  if (model != "gpt2") return model == "llama" ? "SentencePiece" : model;
  const std::string pre(metadata.Text("tokenizer.ggml.pre"));
  return "byte-level BPE, " + (pre.empty() ? "default" : pre);
}

}  // namespace kvasir
