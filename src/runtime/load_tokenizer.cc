#include "runtime/load_tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "tokenizer/sentencepiece_tokenizer.h"

namespace kvasir {
namespace {

// How models spell the end of a turn, for files that do not name it by id.
constexpr std::array<std::string_view, 8> kEndOfTurnNames = {
    "<|end|>",       "<|eot_id|>",    "<|eom_id|>",      "<|im_end|>",
    "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "</s>"};

bool IsInteger(ValueType type) { return type == ValueType::kInt32 || type == ValueType::kUint32; }

// The id at `key`, or `fallback` without it.
Result<TokenId> Id(const Metadata& metadata, std::string_view key, TokenId fallback) {
  const Result<int64_t> id = metadata.IntOr(key, fallback);
  if (!id.ok()) return id.status();
  if (*id < 0 || *id > std::numeric_limits<TokenId>::max()) return kNoToken;
  return static_cast<TokenId>(*id);
}

Status ReadTokens(const Metadata& metadata, SentencePieceVocabulary& vocabulary) {
  const Result<const MetadataArray*> tokens =
      metadata.Array("tokenizer.ggml.tokens", ValueType::kString);
  if (!tokens.ok()) return tokens.status();
  for (int64_t i = 0; i < (*tokens)->size(); ++i) {
    vocabulary.tokens.push_back((*tokens)->String(i));
  }
  if (metadata.Has("tokenizer.ggml.scores")) {
    const Result<const MetadataArray*> scores =
        metadata.Array("tokenizer.ggml.scores", ValueType::kFloat32);
    if (!scores.ok()) return scores.status();
    for (int64_t i = 0; i < (*scores)->size(); ++i) {
      vocabulary.scores.push_back(static_cast<float>((*scores)->Float(i)));
    }
  }
  const auto types = metadata.values().find("tokenizer.ggml.token_type");
  if (types != metadata.values().end()) {
    const MetadataArray* kinds = std::get_if<MetadataArray>(&types->second);
    if (kinds == nullptr || !IsInteger(kinds->element_type())) {
      return MalformedFile("key tokenizer.ggml.token_type must be an array of 32-bit integers");
    }
    for (int64_t i = 0; i < kinds->size(); ++i) {
      vocabulary.kinds.push_back(static_cast<int32_t>(kinds->Int(i)));
    }
  }
  return Status();
}

bool IsOfKind(const SentencePieceVocabulary& vocabulary, TokenId id, TokenKind kind) {
  const size_t i = static_cast<size_t>(id);
  return i < vocabulary.kinds.size() && vocabulary.kinds[i] == static_cast<int32_t>(kind);
}

// What a file means that names no BOS, EOS or unknown token: Llama's ids, unless
// the vocabulary says that those are other tokens.
TokenId DefaultId(const SentencePieceVocabulary& vocabulary, TokenId id, TokenKind kind) {
  if (static_cast<size_t>(id) >= vocabulary.tokens.size()) return kNoToken;
  return vocabulary.kinds.empty() || IsOfKind(vocabulary, id, kind) ? id : kNoToken;
}

TokenId DefaultUnknown(const SentencePieceVocabulary& vocabulary) {
  const auto found = std::find(vocabulary.kinds.begin(), vocabulary.kinds.end(),
                               static_cast<int32_t>(TokenKind::kUnknown));
  if (found != vocabulary.kinds.end()) {
    return static_cast<TokenId>(found - vocabulary.kinds.begin());
  }
  return DefaultId(vocabulary, 0, TokenKind::kUnknown);
}

Status ReadSpecialIds(const Metadata& metadata, SentencePieceVocabulary& vocabulary) {
  struct Field {
    std::string_view key;
    TokenId fallback;
    TokenId& id;
  };
  TokenId end_of_turn = kNoToken;
  TokenId end_of_message = kNoToken;
  const Field fields[] = {
      {"tokenizer.ggml.bos_token_id", DefaultId(vocabulary, 1, TokenKind::kControl),
       vocabulary.bos},
      {"tokenizer.ggml.eos_token_id", DefaultId(vocabulary, 2, TokenKind::kControl),
       vocabulary.eos},
      {"tokenizer.ggml.unknown_token_id", DefaultUnknown(vocabulary), vocabulary.unknown},
      {"tokenizer.ggml.eot_token_id", kNoToken, end_of_turn},
      {"tokenizer.ggml.eom_token_id", kNoToken, end_of_message},
  };
  for (const Field& field : fields) {
    const Result<TokenId> id = Id(metadata, field.key, field.fallback);
    if (!id.ok()) return id.status();
    field.id = *id;
  }
  for (TokenId id : {end_of_turn, end_of_message}) {
    if (id != kNoToken) vocabulary.end_of_generation.push_back(id);
  }
  return Status();
}

void FindEndOfTurnNames(SentencePieceVocabulary& vocabulary) {
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (!IsOfKind(vocabulary, id, TokenKind::kControl) &&
        !IsOfKind(vocabulary, id, TokenKind::kUserDefined)) {
      continue;
    }
    if (std::find(kEndOfTurnNames.begin(), kEndOfTurnNames.end(), vocabulary.tokens[i]) !=
        kEndOfTurnNames.end()) {
      vocabulary.end_of_generation.push_back(id);
    }
  }
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> LoadTokenizer(const Metadata& metadata) {
  const Result<std::string_view> model = metadata.String("tokenizer.ggml.model");
  if (!model.ok()) return model.status();
  if (*model != "llama") {
    return UnsupportedModel("vocabulary kind \"" + std::string(*model) +
                            "\" is not supported; this build has llama (SentencePiece)");
  }
  SentencePieceVocabulary vocabulary;
  if (Status status = ReadTokens(metadata, vocabulary); !status.ok()) return status;
  if (Status status = ReadSpecialIds(metadata, vocabulary); !status.ok()) return status;
  FindEndOfTurnNames(vocabulary);
  const Result<bool> add_bos = metadata.BoolOr("tokenizer.ggml.add_bos_token", true);
  if (!add_bos.ok()) return add_bos.status();
  const Result<bool> add_space = metadata.BoolOr("tokenizer.ggml.add_space_prefix", true);
  if (!add_space.ok()) return add_space.status();
  vocabulary.add_bos = *add_bos;
  vocabulary.add_space_prefix = *add_space;
  return MakeSentencePieceTokenizer(vocabulary);
}

}  // namespace kvasir
