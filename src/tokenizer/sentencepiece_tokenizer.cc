#include "tokenizer/sentencepiece_tokenizer.h"

#include <sentencepiece_model.pb.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "tokenizer/charsmap.h"
#include "tokenizer/library_model.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/utf8.h"

// In the library, but in none of its public headers.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace kvasir {
namespace {

using sentencepiece::ModelProto;
using sentencepiece::NormalizerSpec;

constexpr int kLogFatalOnly = 3;
constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581, a space in a piece

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

bool IsPlain(const NormalizerSpec& normalizer) {
  return normalizer.precompiled_charsmap().empty() && !normalizer.remove_extra_whitespaces() &&
         normalizer.escape_whitespaces();
}

struct Traits {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> unknown;
  std::vector<TokenId> end_of_generation;
  bool add_bos = true;
  bool add_space_prefix = true;
};

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::vector<VocabularyToken> tokens, Traits traits)
      : tokens_(std::move(tokens)), traits_(std::move(traits)) {
    for (TokenId id = 0; id < vocab_size(); ++id) {
      if (!IsSpecial(id)) continue;
      const VocabularyToken& token = tokens_[static_cast<size_t>(id)];
      const bool always = token.kind == TokenKind::kUserDefined;
      special_.Add(token.spelling, id, always);
      if (always) special_.Add(WithSpaces(token.spelling), id, always);
    }
    special_.Prepare();
  }

  Status Load(NormalizerSpec normalizer) {
    plain_ = IsPlain(normalizer);
    if (plain_) {
      // The space before a text is then not the library's affair: parts of a text
      // go to it one by one.
      normalizer.set_add_dummy_prefix(false);
      for (const VocabularyToken& token : tokens_) cutter_.AddPiece(token.spelling);
      cutter_.Prepare();
    }
    sentencepiece::logging::SetMinLogLevel(kLogFatalOnly);
    const sentencepiece::util::Status loaded =
        processor_.Load(BuildLibraryModel(tokens_, normalizer));
    if (loaded.ok()) return Status();
    return MalformedFile("the SentencePiece vocabulary (tokenizer.ggml.tokens) cannot be used: " +
                         std::string(loaded.error_message()));
  }

  std::vector<TokenId> Encode(std::string_view raw, const EncodeOptions& options) const override {
    std::vector<TokenId> ids;
    if (options.add_bos.value_or(traits_.add_bos) && traits_.bos) ids.push_back(*traits_.bos);
    std::string bytes(raw);
    const std::string text = TakeAllUtf8(bytes);
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
    const VocabularyToken& token = tokens_[static_cast<size_t>(id)];
    switch (token.kind) {
      case TokenKind::kControl:
      case TokenKind::kUnknown:
        return special ? token.spelling : "";
      case TokenKind::kByte:
        return std::string(1, static_cast<char>(*ByteValue(token.spelling)));
      case TokenKind::kNormal:
      case TokenKind::kUserDefined:
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
    return id == traits_.eos ||
           std::find(traits_.end_of_generation.begin(), traits_.end_of_generation.end(), id) !=
               traits_.end_of_generation.end();
  }

 private:
  // `text` lies between special tokens.
  void EncodeText(std::string text, std::vector<TokenId>& ids) const {
    if (text.empty()) return;
    if (!plain_) {
      EncodePart(text, true, ids);
      return;
    }
    if (traits_.add_space_prefix) text.insert(0, 1, ' ');
    bool is_known = true;
    for (std::string_view rest = text; !rest.empty();) {
      const size_t length = cutter_.FirstPart(rest);
      is_known = EncodePart(rest.substr(0, length), is_known, ids);
      rest.remove_prefix(length);
    }
  }

  // A run of text that the vocabulary does not cover is one unknown token.
  // `is_known`: whether the text before was covered; returns the same for this.
  bool EncodePart(std::string_view part, bool is_known, std::vector<TokenId>& ids) const {
    std::vector<int> found;
    const sentencepiece::util::Status encoded =
        processor_.Encode(absl::string_view(part.data(), part.size()), &found);
    assert(encoded.ok() && "a loaded model encodes every text");
    if (!encoded.ok()) return true;
    for (int id : found) {
      const bool was_known = is_known;
      is_known = id < vocab_size();
      if (is_known) {
        ids.push_back(id);
      } else if (was_known && traits_.unknown) {
        ids.push_back(*traits_.unknown);
      }
    }
    return is_known;
  }

  sentencepiece::SentencePieceProcessor processor_;
  std::vector<VocabularyToken> tokens_;
  Traits traits_;
  SpecialTokens special_;
  bool plain_ = false;  // spaces become U+2581, all else stays as it is
  TextCutter cutter_;   // where plain_
};

Result<std::unique_ptr<Tokenizer>> Make(std::vector<VocabularyToken> tokens, Traits traits,
                                        const NormalizerSpec& normalizer) {
  if (Status status = CheckVocabulary(tokens); !status.ok()) return status;
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(std::move(tokens), std::move(traits));
  if (Status status = tokenizer->Load(normalizer); !status.ok()) return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

Status CheckLength(std::string_view key, size_t length, size_t tokens) {
  if (length == 0 || length == tokens) return Status();
  return MalformedFile(std::string(key) + " has " + std::to_string(length) + " entries for " +
                       std::to_string(tokens) + " tokens");
}

// An id outside the vocabulary means that there is no such token.
std::optional<TokenId> Within(TokenId id, size_t count) {
  if (id < 0 || static_cast<size_t>(id) >= count) return std::nullopt;
  return id;
}

Status CheckVocabularyShape(const SentencePieceVocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  if (count == 0) return MalformedFile("tokenizer.ggml.tokens is empty");
  if (count > static_cast<size_t>(std::numeric_limits<TokenId>::max()) / 2) {
    return MalformedFile("tokenizer.ggml.tokens has too many entries");
  }
  const Status checks[] = {
      CheckLength("tokenizer.ggml.scores", vocabulary.scores.size(), count),
      CheckLength("tokenizer.ggml.token_type", vocabulary.kinds.size(), count),
  };
  for (const Status& check : checks) {
    if (!check.ok()) return check;
  }
  if (vocabulary.unknown != kNoToken && !Within(vocabulary.unknown, count)) {
    return MalformedFile("tokenizer.ggml.unknown_token_id is " +
                         std::to_string(vocabulary.unknown) +
                         ", which is not in the vocabulary of " + std::to_string(count));
  }
  return Status();
}

// For a file without tokenizer.ggml.token_type.
TokenKind GuessKind(const SentencePieceVocabulary& vocabulary, TokenId id) {
  if (id == vocabulary.bos || id == vocabulary.eos) return TokenKind::kControl;
  return ByteValue(vocabulary.tokens[static_cast<size_t>(id)]) ? TokenKind::kByte
                                                               : TokenKind::kNormal;
}

Result<std::vector<VocabularyToken>> ReadTokens(const SentencePieceVocabulary& vocabulary) {
  std::vector<VocabularyToken> tokens(vocabulary.tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    VocabularyToken& token = tokens[i];
    token.spelling = vocabulary.tokens[i];
    if (!vocabulary.scores.empty()) token.score = vocabulary.scores[i];
    if (vocabulary.kinds.empty()) {
      token.kind = GuessKind(vocabulary, static_cast<TokenId>(i));
      continue;
    }
    const int32_t kind = vocabulary.kinds[i];
    if (kind < static_cast<int32_t>(TokenKind::kNormal) ||
        kind > static_cast<int32_t>(TokenKind::kByte)) {
      return MalformedFile("tokenizer.ggml.token_type of token " + std::to_string(i) +
                           " must lie in 1..6, is " + std::to_string(kind));
    }
    token.kind = static_cast<TokenKind>(kind);
  }
  return tokens;
}

// The first of that kind and, where given, spelling.
std::optional<TokenId> FindToken(const std::vector<VocabularyToken>& tokens, TokenKind kind,
                                 std::optional<std::string_view> spelling = std::nullopt) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == kind && tokens[i].spelling == spelling.value_or(tokens[i].spelling)) {
      return static_cast<TokenId>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const SentencePieceVocabulary& vocabulary) {
  if (Status status = CheckVocabularyShape(vocabulary); !status.ok()) return status;
  Result<std::vector<VocabularyToken>> tokens = ReadTokens(vocabulary);
  if (!tokens.ok()) return tokens.status();

  Traits traits;
  traits.bos = Within(vocabulary.bos, tokens->size());
  traits.eos = Within(vocabulary.eos, tokens->size());
  traits.unknown = Within(vocabulary.unknown, tokens->size());
  if (traits.unknown) (*tokens)[static_cast<size_t>(*traits.unknown)].kind = TokenKind::kUnknown;
  traits.end_of_generation = vocabulary.end_of_generation;
  traits.add_bos = vocabulary.add_bos;
  traits.add_space_prefix = vocabulary.add_space_prefix;

  NormalizerSpec identity;
  identity.set_name("identity");
  identity.set_add_dummy_prefix(vocabulary.add_space_prefix);
  identity.set_remove_extra_whitespaces(false);
  identity.set_escape_whitespaces(true);
  return Make(*std::move(tokens), std::move(traits), identity);
}

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(std::string_view model_proto) {
  ModelProto proto;
  if (model_proto.empty() ||
      model_proto.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(model_proto.data(), static_cast<int>(model_proto.size())) ||
      proto.pieces_size() == 0) {
    return MalformedFile("this is not a SentencePiece model (tokenizer.model)");
  }
  if (proto.trainer_spec().model_type() != sentencepiece::TrainerSpec::BPE) {
    return UnsupportedModel("this SentencePiece model is not of the kind BPE");
  }
  if (proto.trainer_spec().treat_whitespace_as_suffix()) {
    return UnsupportedModel("SentencePiece models with the space after a word are not supported");
  }
  const NormalizerSpec& normalizer = proto.normalizer_spec();
  if (!normalizer.precompiled_charsmap().empty() &&
      !IsSafeCharsmap(normalizer.precompiled_charsmap())) {
    return MalformedFile("the normalization rules of the SentencePiece model are damaged");
  }
  std::vector<VocabularyToken> tokens;
  for (const ModelProto::SentencePiece& piece : proto.pieces()) {
    tokens.push_back({piece.piece(), static_cast<TokenKind>(piece.type()), piece.score()});
  }

  Traits traits;
  traits.bos = FindToken(tokens, TokenKind::kControl, proto.trainer_spec().bos_piece());
  traits.eos = FindToken(tokens, TokenKind::kControl, proto.trainer_spec().eos_piece());
  traits.unknown = FindToken(tokens, TokenKind::kUnknown);
  traits.add_space_prefix = normalizer.add_dummy_prefix();
  return Make(std::move(tokens), std::move(traits), normalizer);
}

}  // namespace kvasir
