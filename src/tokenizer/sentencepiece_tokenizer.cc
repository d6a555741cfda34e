#include "tokenizer/sentencepiece_tokenizer.h"

#include <sentencepiece_model.pb.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "tokenizer/special_tokens.h"

namespace kvasir {
namespace {

using sentencepiece::ModelProto;
using Piece = ModelProto::SentencePiece;

constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581, a space in a piece
constexpr int kByteValues = 256;

// The value of a byte token's spelling, "<0x00>".."<0xFF>".
std::optional<int> ByteValue(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling.back() != '>') {
    return std::nullopt;
  }
  int value = 0;
  for (char digit : spelling.substr(3, 2)) {
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'A' || digit > 'F')) return std::nullopt;
    value = value * 16 + (decimal ? digit - '0' : digit - 'A' + 10);
  }
  return value;
}

std::string WithSpaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const size_t mark = piece.find(kSpaceMark);
    text += piece.substr(0, mark);
    if (mark == std::string_view::npos) break;
    text += ' ';
    piece.remove_prefix(mark + kSpaceMark.size());
  }
  return text;
}

// What the tokenizer knows of a token beside the library's model.
struct Token {
  std::string spelling;
  TokenKind kind = TokenKind::kNormal;
};

struct Traits {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::vector<TokenId> end_of_generation;
  bool add_bos = true;
  bool add_space_prefix = true;
};

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::vector<Token> tokens, Traits traits)
      : tokens_(std::move(tokens)), traits_(std::move(traits)) {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (kind == TokenKind::kControl || kind == TokenKind::kUserDefined ||
          kind == TokenKind::kUnknown) {
        special_.Add(tokens_[i].spelling, static_cast<TokenId>(i),
                     kind == TokenKind::kUserDefined);
      }
    }
    special_.Prepare();
  }

  Status Load(std::unique_ptr<ModelProto> proto) {
    const sentencepiece::util::Status loaded = processor_.Load(std::move(proto));
    if (loaded.ok()) return Status();
    return MalformedFile("the SentencePiece vocabulary (tokenizer.ggml.tokens) cannot be used: " +
                         std::string(loaded.error_message()));
  }

  std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const override {
    std::vector<TokenId> ids;
    if (options.add_bos.value_or(traits_.add_bos) && traits_.bos) ids.push_back(*traits_.bos);
    size_t at = 0;
    while (const auto match = special_.Find(text, at, options.parse_special)) {
      EncodeText(text.substr(at, match->begin - at), ids);
      ids.push_back(match->id);
      at = match->end;
    }
    EncodeText(text.substr(at), ids);
    return ids;
  }

  std::string TokenBytes(TokenId id, bool special) const override {
    if (id < 0 || id >= vocab_size()) return "";
    const Token& token = tokens_[static_cast<size_t>(id)];
    switch (token.kind) {
      case TokenKind::kControl:
      case TokenKind::kUnknown:
        return special ? token.spelling : "";
      case TokenKind::kUserDefined:
        return token.spelling;
      case TokenKind::kByte:
        return std::string(1, static_cast<char>(*ByteValue(token.spelling)));
      case TokenKind::kNormal:
      case TokenKind::kUnused:
        return WithSpaces(token.spelling);
    }
    return "";
  }

  bool adds_space_prefix() const override { return traits_.add_space_prefix; }
  int32_t vocab_size() const override { return static_cast<int32_t>(tokens_.size()); }
  std::optional<TokenId> bos() const override { return traits_.bos; }
  std::optional<TokenId> eos() const override { return traits_.eos; }
  bool adds_bos() const override { return traits_.add_bos && traits_.bos.has_value(); }

  bool IsSpecial(TokenId id) const override {
    if (id < 0 || id >= vocab_size()) return true;
    const TokenKind kind = tokens_[static_cast<size_t>(id)].kind;
    return kind == TokenKind::kControl || kind == TokenKind::kUserDefined ||
           kind == TokenKind::kUnknown;
  }

  bool IsEndOfGeneration(TokenId id) const override {
    return id == traits_.eos || std::find(traits_.end_of_generation.begin(),
                                          traits_.end_of_generation.end(),
                                          id) != traits_.end_of_generation.end();
  }

 private:
  void EncodeText(std::string_view text, std::vector<TokenId>& ids) const {
    if (text.empty()) return;
    std::vector<int> part;
    const sentencepiece::util::Status encoded =
        processor_.Encode(absl::string_view(text.data(), text.size()), &part);
    assert(encoded.ok() && "a loaded model encodes every text");
    if (encoded.ok()) ids.insert(ids.end(), part.begin(), part.end());
  }

  sentencepiece::SentencePieceProcessor processor_;
  std::vector<Token> tokens_;
  Traits traits_;
  SpecialTokens special_;
};

Result<std::unique_ptr<Tokenizer>> Finish(std::vector<Token> tokens, Traits traits,
                                          std::unique_ptr<ModelProto> proto) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(std::move(tokens), std::move(traits));
  if (Status status = tokenizer->Load(std::move(proto)); !status.ok()) return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

// The library matches user-defined pieces itself, but not as the models'
// runtimes do; they are found before it sees the text, so it need not know them.
Piece::Type LibraryType(TokenKind kind) {
  switch (kind) {
    case TokenKind::kUnknown:
      return Piece::UNKNOWN;
    case TokenKind::kControl:
    case TokenKind::kUserDefined:
      return Piece::CONTROL;
    case TokenKind::kByte:
      return Piece::BYTE;
    case TokenKind::kUnused:
      return Piece::UNUSED;
    case TokenKind::kNormal:
      break;
  }
  return Piece::NORMAL;
}

// Fills `proto` with the tokens. The library refuses empty and repeated pieces,
// which occur as padding in real vocabularies: they get a name of their own as
// control pieces, which no text matches.
void AddPieces(const std::vector<Token>& tokens, const std::vector<float>& scores,
               ModelProto& proto) {
  std::unordered_set<std::string_view> matched, reserved;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Piece::Type type = LibraryType(tokens[i].kind);
    const bool is_matched = type == Piece::NORMAL || type == Piece::UNUSED;
    std::string spelling = tokens[i].spelling;
    if (spelling.empty() || !(is_matched ? matched : reserved).insert(tokens[i].spelling).second) {
      spelling = "<unreachable " + std::to_string(i) + ">";
      if (type != Piece::UNKNOWN) type = Piece::CONTROL;
    }
    Piece* piece = proto.add_pieces();
    piece->set_piece(spelling);
    piece->set_score(scores.empty() ? 0.0f : scores[i]);
    piece->set_type(type);
  }
}

// Exactly one token may be the unknown one for the library.
Status CheckUnknown(std::vector<Token>& tokens, TokenId unknown) {
  if (unknown < 0 || unknown >= static_cast<TokenId>(tokens.size())) {
    return MalformedFile("key tokenizer.ggml.unknown_token_id is not in the vocabulary: " +
                         std::to_string(unknown));
  }
  for (Token& token : tokens) {
    if (token.kind == TokenKind::kUnknown) token.kind = TokenKind::kControl;
  }
  tokens[static_cast<size_t>(unknown)].kind = TokenKind::kUnknown;
  return Status();
}

// Whether text falls back to bytes: all 256 are there, each once, or none is.
Result<bool> HasByteFallback(const std::vector<Token>& tokens) {
  std::set<int> values;
  int64_t count = 0;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::kByte) continue;
    const std::optional<int> value = ByteValue(token.spelling);
    if (!value) {
      return MalformedFile("tokenizer.ggml.tokens: \"" + token.spelling +
                           "\" is marked as a byte but is not <0x00>..<0xFF>");
    }
    values.insert(*value);
    ++count;
  }
  if (count == 0) return false;
  if (count != kByteValues || values.size() != kByteValues) {
    return MalformedFile("tokenizer.ggml.tokens must have each of the 256 byte tokens once, or " +
                         std::string("none; it has ") + std::to_string(count));
  }
  return true;
}

Status CheckLengths(const SentencePieceVocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  if (count == 0) return MalformedFile("tokenizer.ggml.tokens is empty");
  if (!vocabulary.scores.empty() && vocabulary.scores.size() != count) {
    return MalformedFile("tokenizer.ggml.scores has " + std::to_string(vocabulary.scores.size()) +
                         " entries for " + std::to_string(count) + " tokens");
  }
  if (!vocabulary.kinds.empty() && vocabulary.kinds.size() != count) {
    return MalformedFile("tokenizer.ggml.token_type has " +
                         std::to_string(vocabulary.kinds.size()) + " entries for " +
                         std::to_string(count) + " tokens");
  }
  for (float score : vocabulary.scores) {
    if (score != score) return MalformedFile("tokenizer.ggml.scores holds a value that is no number");
  }
  return Status();
}

Result<std::vector<Token>> ReadTokens(const SentencePieceVocabulary& vocabulary) {
  std::vector<Token> tokens(vocabulary.tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i].spelling = vocabulary.tokens[i];
    if (vocabulary.kinds.empty()) continue;
    const int32_t kind = vocabulary.kinds[i];
    if (kind < static_cast<int32_t>(TokenKind::kNormal) ||
        kind > static_cast<int32_t>(TokenKind::kByte)) {
      return MalformedFile("tokenizer.ggml.token_type of token " + std::to_string(i) +
                           " must lie in 1..6, is " + std::to_string(kind));
    }
    tokens[i].kind = static_cast<TokenKind>(kind);
  }
  return tokens;
}

// An id outside the vocabulary means that there is no such token.
std::optional<TokenId> Within(TokenId id, size_t count) {
  if (id < 0 || id >= static_cast<TokenId>(count)) return std::nullopt;
  return id;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const SentencePieceVocabulary& vocabulary) {
  if (Status status = CheckLengths(vocabulary); !status.ok()) return status;
  Result<std::vector<Token>> tokens = ReadTokens(vocabulary);
  if (!tokens.ok()) return tokens.status();
  if (Status status = CheckUnknown(*tokens, vocabulary.unknown); !status.ok()) return status;
  const Result<bool> byte_fallback = HasByteFallback(*tokens);
  if (!byte_fallback.ok()) return byte_fallback.status();

  auto proto = std::make_unique<ModelProto>();
  proto->mutable_trainer_spec()->set_model_type(sentencepiece::TrainerSpec::BPE);
  proto->mutable_trainer_spec()->set_byte_fallback(*byte_fallback);
  sentencepiece::NormalizerSpec* normalizer = proto->mutable_normalizer_spec();
  normalizer->set_name("identity");
  normalizer->set_add_dummy_prefix(vocabulary.add_space_prefix);
  normalizer->set_remove_extra_whitespaces(false);
  normalizer->set_escape_whitespaces(true);
  AddPieces(*tokens, vocabulary.scores, *proto);

  Traits traits;
  traits.bos = Within(vocabulary.bos, tokens->size());
  traits.eos = Within(vocabulary.eos, tokens->size());
  traits.end_of_generation = vocabulary.end_of_generation;
  traits.add_bos = vocabulary.add_bos;
  traits.add_space_prefix = vocabulary.add_space_prefix;
  return Finish(*std::move(tokens), std::move(traits), std::move(proto));
}

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(std::string_view model_proto) {
  auto proto = std::make_unique<ModelProto>();
  if (!proto->ParseFromArray(model_proto.data(), static_cast<int>(model_proto.size())) ||
      proto->pieces_size() == 0) {
    return MalformedFile("this is not a SentencePiece model (tokenizer.model)");
  }
  std::vector<Token> tokens;
  TokenId unknown = 0;
  for (const Piece& piece : proto->pieces()) {
    if (piece.type() == Piece::UNKNOWN) unknown = static_cast<TokenId>(tokens.size());
    tokens.push_back({piece.piece(), static_cast<TokenKind>(piece.type())});
  }
  if (Status status = CheckUnknown(tokens, unknown); !status.ok()) return status;
  const Result<bool> byte_fallback = HasByteFallback(tokens);
  if (!byte_fallback.ok()) return byte_fallback.status();

  std::vector<float> scores;
  for (const Piece& piece : proto->pieces()) scores.push_back(piece.score());
  proto->clear_pieces();
  AddPieces(tokens, scores, *proto);
  proto->mutable_trainer_spec()->set_byte_fallback(*byte_fallback);

  Traits traits;
  const auto find = [&](const std::string& spelling) -> std::optional<TokenId> {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind == TokenKind::kControl && tokens[i].spelling == spelling) {
        return static_cast<TokenId>(i);
      }
    }
    return std::nullopt;
  };
  traits.bos = find(proto->trainer_spec().bos_piece());
  traits.eos = find(proto->trainer_spec().eos_piece());
  traits.add_bos = traits.bos.has_value();
  traits.add_space_prefix = proto->normalizer_spec().add_dummy_prefix();
  return Finish(std::move(tokens), std::move(traits), std::move(proto));
}

}  // namespace kvasir
