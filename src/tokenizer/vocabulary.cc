#include "tokenizer/vocabulary.h"

#include <algorithm>
#include <limits>

namespace kvasir {
namespace {

TokenKind GuessKind(const Vocabulary& vocabulary, TokenId id, bool has_bytes) {
  if (id == vocabulary.bos || id == vocabulary.eos) return TokenKind::kControl;
  return has_bytes && ByteValue(vocabulary.tokens[static_cast<size_t>(id)]) ? TokenKind::kByte
                                                                            : TokenKind::kNormal;
}

}  // namespace

Status CheckLength(std::string_view key, size_t length, size_t tokens) {
  if (length == 0 || length == tokens) return Status();
  return MalformedFile(std::string(key) + " has " + std::to_string(length) + " entries for " +
                       std::to_string(tokens) + " tokens");
}

Status CheckVocabularyShape(const Vocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  if (count == 0) return MalformedFile("tokenizer.ggml.tokens is empty");
  if (count > static_cast<size_t>(std::numeric_limits<TokenId>::max()) / 2) {
    return MalformedFile("tokenizer.ggml.tokens has too many entries");
  }
  if (Status status = CheckLength("tokenizer.ggml.token_type", vocabulary.kinds.size(), count);
      !status.ok()) {
    return status;
  }
  for (size_t i = 0; i < vocabulary.kinds.size(); ++i) {
    const int32_t kind = vocabulary.kinds[i];
    if (kind < static_cast<int32_t>(TokenKind::kNormal) ||
        kind > static_cast<int32_t>(TokenKind::kByte)) {
      return MalformedFile("tokenizer.ggml.token_type of token " + std::to_string(i) +
                           " must lie in 1..6, is " + std::to_string(kind));
    }
  }
  if (vocabulary.unknown != kNoToken &&
      (vocabulary.unknown < 0 || static_cast<size_t>(vocabulary.unknown) >= count)) {
    return MalformedFile("tokenizer.ggml.unknown_token_id is " +
                         std::to_string(vocabulary.unknown) +
                         ", which is not in the vocabulary of " + std::to_string(count));
  }
  return Status();
}

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

std::vector<TokenKind> TokenKinds(const Vocabulary& vocabulary, bool has_bytes) {
  std::vector<TokenKind> kinds(vocabulary.tokens.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = vocabulary.kinds.empty() ? GuessKind(vocabulary, static_cast<TokenId>(i), has_bytes)
                                        : static_cast<TokenKind>(vocabulary.kinds[i]);
  }
  return kinds;
}

void AddEndsByName(std::span<const std::string_view> names, Vocabulary& vocabulary) {
  for (size_t i = 0; i < vocabulary.kinds.size(); ++i) {
    const bool special = vocabulary.kinds[i] == static_cast<int32_t>(TokenKind::kControl) ||
                         vocabulary.kinds[i] == static_cast<int32_t>(TokenKind::kUserDefined);
    if (special && std::find(names.begin(), names.end(), vocabulary.tokens[i]) != names.end()) {
      vocabulary.end_of_generation.push_back(static_cast<TokenId>(i));
    }
  }
}

}  // namespace kvasir
