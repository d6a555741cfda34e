#include "tokenizer/sentencepiece_tokenizer.h"

#include <sentencepiece_model.pb.h>
#include <sentencepiece_processor.h>

#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "tokenizer/charsmap.h"
#include "tokenizer/library_model.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/vocabulary_tokenizer.h"
#include "tokenizer/word_cache.h"

// In the library, but in none of its public headers.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace kvasir {
namespace {

using sentencepiece::ModelProto;
using sentencepiece::NormalizerSpec;

constexpr int kLogFatalOnly = 3;

bool IsPlain(const NormalizerSpec& normalizer) {
  return normalizer.precompiled_charsmap().empty() && !normalizer.remove_extra_whitespaces() &&
         normalizer.escape_whitespaces();
}

class SentencePieceTokenizer final : public VocabularyTokenizer {
 public:
  SentencePieceTokenizer(std::vector<VocabularyToken> tokens, Traits traits, bool add_space_prefix)
      : VocabularyTokenizer(KindsOf(tokens), std::move(traits)),
        tokens_(std::move(tokens)),
        add_space_prefix_(add_space_prefix) {
    for (TokenId id = 0; id < vocab_size(); ++id) {
      has_bytes_ = has_bytes_ || kind(id) == TokenKind::kByte;
      if (!IsSpecial(id)) continue;
      const std::string& spelling = tokens_[static_cast<size_t>(id)].spelling;
      AddSpecial(spelling, id);
      if (kind(id) == TokenKind::kUserDefined) AddSpecial(WithSpaces(spelling), id);
    }
    PrepareSpecial();
  }

  static Result<std::unique_ptr<Tokenizer>> Make(const SentencePieceVocabulary& vocabulary,
                                                 std::vector<VocabularyToken> tokens,
                                                 const NormalizerSpec& normalizer) {
    if (Status status = CheckVocabulary(tokens); !status.ok()) return status;
    auto tokenizer = std::make_unique<SentencePieceTokenizer>(
        std::move(tokens), TraitsOf(vocabulary), vocabulary.add_space_prefix);
    if (Status status = tokenizer->Load(normalizer, vocabulary.unigram); !status.ok()) {
      return status;
    }
    return std::unique_ptr<Tokenizer>(std::move(tokenizer));
  }

  Status Load(NormalizerSpec normalizer, bool unigram) {
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
        processor_.Load(BuildLibraryModel(tokens_, normalizer, unigram));
    if (loaded.ok()) return Status();
    return MalformedFile("the SentencePiece vocabulary (tokenizer.ggml.tokens) cannot be used: " +
                         std::string(loaded.error_message()));
  }

  std::string TokenBytes(TokenId id, bool special) const override {
    if (!IsWithin(id)) return "";
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

  bool adds_space_prefix() const override { return add_space_prefix_; }

 private:
  static std::vector<TokenKind> KindsOf(const std::vector<VocabularyToken>& tokens) {
    std::vector<TokenKind> kinds;
    kinds.reserve(tokens.size());
    for (const VocabularyToken& token : tokens) kinds.push_back(token.kind);
    return kinds;
  }

  void EncodeText(std::string_view text, bool /*first*/, bool /*parse_special*/,
                  std::vector<TokenId>& ids) const override {
    if (!plain_) {
      EncodePart(text, true, ids);
      return;
    }
    std::string prefixed;
    if (add_space_prefix_) {
      prefixed.append(1, ' ').append(text);
      text = prefixed;
    }
    bool is_known = true;
    WordCache cache;
    for (std::string_view rest = text; !rest.empty();) {
      // Without byte tokens, what a word becomes depends on the one before it.
      const size_t length = has_bytes_ ? cutter_.FirstWord(rest) : cutter_.FirstPart(rest);
      const std::string_view part = rest.substr(0, length);
      rest.remove_prefix(length);
      if (has_bytes_) {
        cache.Encode(part, ids, [&](std::string_view word) { EncodePart(word, true, ids); });
      } else {
        is_known = EncodePart(part, is_known, ids);
      }
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
      } else if (was_known && traits().unknown) {
        ids.push_back(*traits().unknown);
      }
    }
    return is_known;
  }

  sentencepiece::SentencePieceProcessor processor_;
  std::vector<VocabularyToken> tokens_;
  bool add_space_prefix_;
  bool has_bytes_ = false;  // a token for each of the 256
  bool plain_ = false;      // spaces become U+2581, all else stays as it is
  TextCutter cutter_;       // where plain_
};

Result<std::vector<VocabularyToken>> ReadTokens(const SentencePieceVocabulary& vocabulary) {
  if (Status status = CheckVocabularyShape(vocabulary); !status.ok()) return status;
  const size_t count = vocabulary.tokens.size();
  if (Status status = CheckLength("tokenizer.ggml.scores", vocabulary.scores.size(), count);
      !status.ok()) {
    return status;
  }
  std::vector<TokenKind> kinds = TokenKinds(vocabulary, true);
  if (vocabulary.unknown != kNoToken) {
    kinds[static_cast<size_t>(vocabulary.unknown)] = TokenKind::kUnknown;
  }
  std::vector<VocabularyToken> tokens(count);
  for (size_t i = 0; i < count; ++i) {
    tokens[i].spelling = vocabulary.tokens[i];
    tokens[i].kind = kinds[i];
    if (!vocabulary.scores.empty()) tokens[i].score = vocabulary.scores[i];
  }
  return tokens;
}

// The first of that kind and, where given, spelling.
TokenId FindToken(const std::vector<VocabularyToken>& tokens, TokenKind kind,
                  std::optional<std::string_view> spelling = std::nullopt) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == kind && tokens[i].spelling == spelling.value_or(tokens[i].spelling)) {
      return static_cast<TokenId>(i);
    }
  }
  return kNoToken;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const SentencePieceVocabulary& vocabulary) {
  Result<std::vector<VocabularyToken>> tokens = ReadTokens(vocabulary);
  if (!tokens.ok()) return tokens.status();
  NormalizerSpec identity;
  identity.set_name("identity");
  identity.set_add_dummy_prefix(vocabulary.add_space_prefix);
  identity.set_remove_extra_whitespaces(false);
  identity.set_escape_whitespaces(true);
  return SentencePieceTokenizer::Make(vocabulary, *std::move(tokens), identity);
}

Result<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    std::string_view model_proto, const std::vector<TokenId>& end_of_generation) {
  ModelProto proto;
  if (model_proto.empty() ||
      model_proto.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(model_proto.data(), static_cast<int>(model_proto.size())) ||
      proto.pieces_size() == 0) {
    return MalformedFile("this is not a SentencePiece model (tokenizer.model)");
  }
  const auto model_type = proto.trainer_spec().model_type();
  if (model_type != sentencepiece::TrainerSpec::BPE &&
      model_type != sentencepiece::TrainerSpec::UNIGRAM) {
    return UnsupportedModel("this SentencePiece model is of neither kind, BPE nor unigram");
  }
  if (proto.trainer_spec().treat_whitespace_as_suffix()) {
    return UnsupportedModel("SentencePiece models with the space after a word are not supported");
  }
  const NormalizerSpec& normalizer = proto.normalizer_spec();
  if (!normalizer.precompiled_charsmap().empty() &&
      !IsSafeCharsmap(normalizer.precompiled_charsmap())) {
    return MalformedFile("the normalization rules of the SentencePiece model are damaged");
  }
  SentencePieceVocabulary vocabulary;
  std::vector<VocabularyToken> tokens;
  for (const ModelProto::SentencePiece& piece : proto.pieces()) {
    vocabulary.tokens.push_back(piece.piece());
    tokens.push_back({piece.piece(), static_cast<TokenKind>(piece.type()), piece.score()});
  }
  vocabulary.bos = FindToken(tokens, TokenKind::kControl, proto.trainer_spec().bos_piece());
  vocabulary.eos = FindToken(tokens, TokenKind::kControl, proto.trainer_spec().eos_piece());
  vocabulary.unknown = FindToken(tokens, TokenKind::kUnknown);
  vocabulary.add_space_prefix = normalizer.add_dummy_prefix();
  vocabulary.unigram = model_type == sentencepiece::TrainerSpec::UNIGRAM;
  vocabulary.end_of_generation = end_of_generation;
  return SentencePieceTokenizer::Make(vocabulary, std::move(tokens), normalizer);
}

}  // namespace kvasir
