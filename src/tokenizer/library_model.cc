#include "tokenizer/library_model.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace kvasir {
namespace {

using sentencepiece::ModelProto;
using Piece = ModelProto::SentencePiece;

constexpr int kByteValues = 256;

// Begins the spelling of pieces that no text must reach. The library replaces
// this byte, which UTF-8 does not have, before it looks for pieces.
constexpr char kUnreachable = '\xff';

std::string ByteSpelling(int value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string spelling = "<0x00>";
  spelling[3] = kDigits[static_cast<size_t>(value / 16)];
  spelling[4] = kDigits[static_cast<size_t>(value % 16)];
  return spelling;
}

bool IsText(const VocabularyToken& token) {
  return token.kind == TokenKind::kNormal || token.kind == TokenKind::kUnused;
}

// Which tokens the library may find in text; of equal ones the last. Its trie of a
// unigram model takes no spelling with a zero byte.
std::vector<bool> FindReachable(const std::vector<VocabularyToken>& tokens, bool unigram) {
  std::vector<bool> reachable(tokens.size());
  std::unordered_set<std::string_view> seen;
  for (size_t i = tokens.size(); i-- > 0;) {
    const std::string& spelling = tokens[i].spelling;
    const bool in_trie = !unigram || spelling.find('\0') == std::string::npos;
    reachable[i] = IsText(tokens[i]) && !spelling.empty() && spelling[0] != kUnreachable &&
                   in_trie && !ByteValue(spelling) && seen.insert(spelling).second;
  }
  return reachable;
}

void AddPiece(const std::string& spelling, float score, Piece::Type type, ModelProto& proto) {
  Piece* piece = proto.add_pieces();
  piece->set_piece(spelling);
  piece->set_score(score);
  piece->set_type(type);
}

}  // namespace

Status CheckVocabulary(const std::vector<VocabularyToken>& tokens) {
  std::array<int, kByteValues> counts = {};
  size_t total = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (std::isnan(tokens[i].score)) {
      return MalformedFile("tokenizer.ggml.scores of token " + std::to_string(i) +
                           " is not a number");
    }
    if (tokens[i].kind != TokenKind::kByte) continue;
    const std::optional<int> value = ByteValue(tokens[i].spelling);
    if (!value) {
      return MalformedFile("tokenizer.ggml.tokens: token " + std::to_string(i) +
                           " is marked as a byte but is not spelled <0x00>..<0xFF>");
    }
    ++counts[static_cast<size_t>(*value)];
    ++total;
  }
  for (int value = 0; total > 0 && value < kByteValues; ++value) {
    const int count = counts[static_cast<size_t>(value)];
    if (count == 1) continue;
    return MalformedFile("tokenizer.ggml.tokens has the byte token " + ByteSpelling(value) + " " +
                         std::to_string(count) +
                         " times; each of the 256 byte tokens must be there once, or none");
  }
  return Status();
}

std::unique_ptr<ModelProto> BuildLibraryModel(const std::vector<VocabularyToken>& tokens,
                                              const sentencepiece::NormalizerSpec& normalizer,
                                              bool unigram) {
  auto proto = std::make_unique<ModelProto>();
  proto->mutable_trainer_spec()->set_model_type(unigram ? sentencepiece::TrainerSpec::UNIGRAM
                                                        : sentencepiece::TrainerSpec::BPE);
  proto->mutable_trainer_spec()->set_byte_fallback(true);
  *proto->mutable_normalizer_spec() = normalizer;

  const std::vector<bool> reachable = FindReachable(tokens, unigram);
  bool has_bytes = false;
  bool has_unknown = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const VocabularyToken& token = tokens[i];
    if (token.kind == TokenKind::kByte) {
      AddPiece(token.spelling, token.score, Piece::BYTE, *proto);
      has_bytes = true;
    } else if (reachable[i]) {
      AddPiece(token.spelling, token.score, Piece::NORMAL, *proto);
    } else {
      // The library wants exactly one unknown piece.
      const bool unknown = token.kind == TokenKind::kUnknown && !has_unknown;
      AddPiece(kUnreachable + std::to_string(i), token.score,
               unknown ? Piece::UNKNOWN : Piece::CONTROL, *proto);
      has_unknown = has_unknown || unknown;
    }
  }
  for (int value = 0; !has_bytes && value < kByteValues; ++value) {
    AddPiece(ByteSpelling(value), 0.0f, Piece::BYTE, *proto);
  }
  if (!has_unknown) AddPiece(std::string(1, kUnreachable), 0.0f, Piece::UNKNOWN, *proto);
  return proto;
}

}  // namespace kvasir
