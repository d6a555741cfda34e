#include "tokenizer/vocabulary_tokenizer.h"

#include <algorithm>
#include <utility>

#include "tokenizer/utf8.h"

namespace kvasir {
namespace {

std::optional<TokenId> Within(TokenId id, size_t count) {
  if (id < 0 || static_cast<size_t>(id) >= count) return std::nullopt;
  return id;
}

bool Contains(const std::vector<TokenId>& ids, TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

VocabularyTokenizer::Traits VocabularyTokenizer::TraitsOf(const Vocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  Traits traits;
  traits.bos = Within(vocabulary.bos, count);
  traits.eos = Within(vocabulary.eos, count);
  traits.unknown = Within(vocabulary.unknown, count);
  traits.end_of_generation = vocabulary.end_of_generation;
  traits.strip_right = vocabulary.strip_right;
  traits.strip_left = vocabulary.strip_left;
  traits.single_words = vocabulary.single_words;
  traits.add_bos = vocabulary.add_bos;
  traits.add_eos = vocabulary.add_eos;
  return traits;
}

VocabularyTokenizer::VocabularyTokenizer(std::vector<TokenKind> kinds, Traits traits)
    : kinds_(std::move(kinds)), traits_(std::move(traits)) {}

void VocabularyTokenizer::AddTo(SpecialTokens& tokens, std::string spelling, TokenId id) const {
  Surroundings surroundings;
  surroundings.strip_right = Contains(traits_.strip_right, id);
  surroundings.strip_left = Contains(traits_.strip_left, id);
  surroundings.single_word = Contains(traits_.single_words, id);
  tokens.Add(std::move(spelling), id, kind(id) == TokenKind::kUserDefined, surroundings);
}

std::vector<TokenId> VocabularyTokenizer::Encode(std::string_view raw,
                                                 const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.add_bos.value_or(traits_.add_bos) && traits_.bos) ids.push_back(*traits_.bos);
  std::string bytes(raw);
  const std::string whole = TakeAllUtf8(bytes);
  const std::string_view text = whole;
  size_t at = 0;
  while (const auto match = special_.Find(text, at, options.parse_special)) {
    if (match->begin > at) {
      EncodeText(text.substr(at, match->begin - at), at == 0, options.parse_special, ids);
    }
    ids.push_back(match->id);
    at = match->end;
  }
  if (at < text.size()) EncodeText(text.substr(at), at == 0, options.parse_special, ids);
  if (options.add_eos.value_or(traits_.add_eos) && traits_.eos) ids.push_back(*traits_.eos);
  return ids;
}

bool VocabularyTokenizer::IsSpecial(TokenId id) const {
  return !IsWithin(id) || kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUserDefined ||
         kind(id) == TokenKind::kUnknown;
}

bool VocabularyTokenizer::IsEndOfGeneration(TokenId id) const {
  return id == traits_.eos || Contains(traits_.end_of_generation, id);
}

}  // namespace kvasir
