#include "tokenizer/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/json.h"
#include "tokenizer/json_pipeline.h"
#include "tokenizer/space_mark.h"

namespace kvasir {
namespace {

// Vocabularies may have holes, but an absurd id must not ask for memory: there are
// so many ids beyond twice the tokens.
constexpr size_t kSpareIds = 1 << 12;

Status Malformed(std::string_view what) {
  return MalformedFile("tokenizer.json: " + std::string(what));
}

Status Unsupported(std::string_view what) {
  return UnsupportedModel("tokenizer.json: " + std::string(what) + " is not supported");
}

Status SetToken(Vocabulary& vocabulary, size_t ids, std::string_view spelling, JsonValue value) {
  const std::optional<int64_t> id = value.Int();
  if (!id || *id < 0 || static_cast<uint64_t>(*id) >= ids) {
    return Malformed("the id of a token must lie in 0.." + std::to_string(ids - 1));
  }
  const size_t index = static_cast<size_t>(*id);
  if (index >= vocabulary.tokens.size()) {
    vocabulary.tokens.resize(index + 1);
    vocabulary.kinds.resize(index + 1, static_cast<int32_t>(TokenKind::kNormal));
  }
  std::string_view& place = vocabulary.tokens[index];
  if (!place.empty() && place != spelling) {
    return Malformed("the id " + std::to_string(*id) + " has two tokens");
  }
  place = spelling;
  return Status();
}

Status ReadTokens(JsonValue model, size_t ids, BytePairVocabulary& vocabulary) {
  const JsonValue tokens = model["vocab"];
  if (!tokens.IsObject()) return Malformed("model.vocab is missing");
  vocabulary.tokens.reserve(tokens.size());
  vocabulary.kinds.reserve(tokens.size());
  for (const auto& [spelling, id] : tokens.Members()) {
    if (Status status = SetToken(vocabulary, ids, spelling, id); !status.ok()) return status;
  }
  return Status();
}

Status ReadMerges(JsonValue model, BytePairVocabulary& vocabulary) {
  for (JsonValue merge : model["merges"].Items()) {
    if (const auto text = merge.String()) {
      vocabulary.merges.push_back(*text);
      continue;
    }
    if (merge.size() != 2) return Malformed("a merge is neither a text nor a pair of texts");
    auto item = merge.Items().begin();
    const auto left = (*item).String();
    const auto right = (*++item).String();
    if (!left || !right) return Malformed("a merge is neither a text nor a pair of texts");
    vocabulary.merge_pairs.emplace_back(*left, *right);
  }
  if (!vocabulary.merges.empty() && !vocabulary.merge_pairs.empty()) {
    return Malformed("some merges are texts, others are pairs");
  }
  return Status();
}

Status ReadAddedTokens(JsonValue tokens, size_t ids, BytePairVocabulary& vocabulary) {
  for (JsonValue token : tokens.Items()) {
    const std::string_view content = token["content"].StringOr("");
    if (content.empty()) return Malformed("an added token has no content");
    if (Status status = SetToken(vocabulary, ids, content, token["id"]); !status.ok()) {
      return status;
    }
    const TokenId id = static_cast<TokenId>(*token["id"].Int());
    const bool special = token["special"].BoolOr(false);
    vocabulary.kinds[static_cast<size_t>(id)] =
        static_cast<int32_t>(special ? TokenKind::kControl : TokenKind::kUserDefined);
    if (token["lstrip"].BoolOr(false)) vocabulary.strip_left.push_back(id);
    if (token["rstrip"].BoolOr(false)) vocabulary.strip_right.push_back(id);
    if (token["single_word"].BoolOr(false)) vocabulary.single_words.push_back(id);
    if (token["normalized"].BoolOr(!special)) vocabulary.normalized.push_back(id);
  }
  return Status();
}

TokenId FindToken(const Vocabulary& vocabulary, std::string_view spelling) {
  const auto found = std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), spelling);
  if (spelling.empty() || found == vocabulary.tokens.end()) return kNoToken;
  return static_cast<TokenId>(found - vocabulary.tokens.begin());
}

void MarkBytes(BytePairVocabulary& vocabulary) {
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const bool normal = vocabulary.kinds[i] == static_cast<int32_t>(TokenKind::kNormal);
    if (normal && ByteValue(vocabulary.tokens[i])) {
      vocabulary.kinds[i] = static_cast<int32_t>(TokenKind::kByte);
    }
  }
}

Status ReadModel(JsonValue model, size_t ids, BytePairVocabulary& vocabulary) {
  // Older files of byte-level BPE do not say the type.
  const std::string_view type = model["type"].StringOr("BPE");
  if (type != "BPE") return Unsupported("a model of the type " + std::string(type));
  for (std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[key].StringOr("").empty()) return Unsupported(key);
  }
  if (model["dropout"].Number().value_or(0) != 0) return Unsupported("dropout");
  vocabulary.ignore_merges = model["ignore_merges"].BoolOr(false);
  vocabulary.fuse_unknown = model["fuse_unk"].BoolOr(false);
  if (Status status = ReadTokens(model, ids, vocabulary); !status.ok()) return status;
  return ReadMerges(model, vocabulary);
}

// Where the post-processor puts a special token before and behind a text.
struct Ends {
  TokenId before = kNoToken;
  TokenId behind = kNoToken;
};

void ReadEnds(JsonValue processor, const Vocabulary& vocabulary, Ends& ends) {
  for (JsonValue part : processor["processors"].Items()) ReadEnds(part, vocabulary, ends);
  if (processor["type"].StringOr("") != "TemplateProcessing") return;
  bool text_came = false;
  for (JsonValue part : processor["single"].Items()) {
    text_came = text_came || part["Sequence"].IsObject();
    const TokenId id = FindToken(vocabulary, part["SpecialToken"]["id"].StringOr(""));
    if (id != kNoToken) (text_came ? ends.behind : ends.before) = id;
  }
}

void SetEnds(JsonValue processor, const TokenizerJsonOptions& options, Vocabulary& vocabulary) {
  Ends ends;
  ReadEnds(processor, vocabulary, ends);
  const TokenId bos = options.bos_id.value_or(FindToken(vocabulary, options.bos_token));
  vocabulary.bos = ends.before != kNoToken ? ends.before : bos;
  const TokenId eos =
      options.eos_ids.empty() ? FindToken(vocabulary, options.eos_token) : options.eos_ids[0];
  vocabulary.eos = eos != kNoToken ? eos : ends.behind;
  vocabulary.end_of_generation = options.eos_ids;
  AddEndsByName(options.end_of_turn_names, vocabulary);
  vocabulary.add_bos = options.add_bos.value_or(ends.before != kNoToken);
  vocabulary.add_eos = options.add_eos.value_or(ends.behind != kNoToken);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeTokenizerFromJson(std::string_view json,
                                                         const TokenizerJsonOptions& options) {
  const Result<JsonDocument> document = JsonDocument::Parse(json, "tokenizer.json");
  if (!document.ok()) return document.status();
  const JsonValue root = document->root();
  const JsonValue model = root["model"];
  if (!model.IsObject()) return Malformed("it has no model");

  BytePairVocabulary vocabulary;
  JsonPipeline pipeline;
  if (Status status = pipeline.Read(root, vocabulary); !status.ok()) return status;
  if (pipeline.asks_for_nfc) vocabulary.normalize = options.nfc;
  const JsonValue added = root["added_tokens"];
  const size_t ids = 2 * (model["vocab"].size() + added.size()) + kSpareIds;
  if (Status status = ReadModel(model, ids, vocabulary); !status.ok()) return status;
  if (Status status = ReadAddedTokens(added, ids, vocabulary); !status.ok()) {
    return status;
  }
  vocabulary.unknown = FindToken(vocabulary, model["unk_token"].StringOr(""));
  if (vocabulary.by_characters && model["byte_fallback"].BoolOr(false)) MarkBytes(vocabulary);
  SetEnds(root["post_processor"], options, vocabulary);
  pipeline.GiveExpressions(vocabulary);
  Result<std::unique_ptr<Tokenizer>> tokenizer = MakeBytePairTokenizer(vocabulary);
  if (tokenizer.ok()) return tokenizer;
  // An expression that is wrong is the file's fault here.
  const bool malformed = tokenizer.status().code() == ErrorCode::kInvalidArgument;
  return Status(malformed ? ErrorCode::kMalformedFile : tokenizer.status().code(),
                "tokenizer.json: " + tokenizer.status().message());
}

}  // namespace kvasir
