#include "tokenizer/byte_pair_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tokenizer/byte_spelling.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/pair_merger.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary_tokenizer.h"
#include "tokenizer/word_cache.h"

namespace kvasir {
namespace {

using Ids = std::unordered_map<std::string_view, TokenId>;

constexpr size_t kMaxShown = 40;
constexpr std::string_view kNoMerge = "is not made of tokens, or does not give one";

std::string Shown(std::string_view spelling) {
  std::string shown = "\"" + std::string(spelling.substr(0, kMaxShown));
  return shown + (spelling.size() > kMaxShown ? "...\"" : "\"");
}

Status BadMerge(size_t i, std::string_view merge, std::string_view what) {
  return MalformedFile("tokenizer.ggml.merges: merge " + std::to_string(i) + ", " + Shown(merge) +
                       ", " + std::string(what));
}

// Every spelling, of all kinds. An empty one is a hole in the vocabulary.
Result<Ids> IdsBySpelling(const std::vector<std::string_view>& spellings) {
  Ids ids;
  ids.reserve(spellings.size());
  for (size_t i = 0; i < spellings.size(); ++i) {
    if (spellings[i].empty()) continue;
    const auto [first, is_new] = ids.emplace(spellings[i], static_cast<TokenId>(i));
    if (is_new) continue;
    return MalformedFile("tokenizer.ggml.tokens: " + Shown(spellings[i]) + " is there twice, as " +
                         std::to_string(first->second) + " and as " + std::to_string(i));
  }
  return ids;
}

class BytePairTokenizer final : public VocabularyTokenizer {
 public:
  BytePairTokenizer(const BytePairVocabulary& vocabulary, PreTokenizer pre_tokenizer)
      : VocabularyTokenizer(TokenKinds(vocabulary, false), TraitsOf(vocabulary)),
        pre_tokenizer_(std::move(pre_tokenizer)),
        merges_(vocabulary.merges.size() + vocabulary.merge_pairs.size()),
        ignore_merges_(vocabulary.ignore_merges),
        by_characters_(vocabulary.by_characters),
        fuse_unknown_(vocabulary.fuse_unknown),
        space_prefix_(vocabulary.space_prefix),
        normalize_(vocabulary.normalize),
        is_normalized_(vocabulary.tokens.size()) {
    by_byte_.fill(PairMerger::kNothing);
    for (TokenId id : vocabulary.normalized) is_normalized_[static_cast<size_t>(id)] = true;
  }

  Status Load(const BytePairVocabulary& vocabulary) {
    const Result<Ids> ids = IdsBySpelling(vocabulary.tokens);
    if (!ids.ok()) return ids.status();
    if (Status status = LoadTokens(vocabulary.tokens); !status.ok()) return status;
    if (Status status = LoadMerges(vocabulary.merges, *ids); !status.ok()) return status;
    return LoadMergePairs(vocabulary.merge_pairs, *ids);
  }

  std::string TokenBytes(TokenId id, bool special) const override {
    if (!IsWithin(id)) return "";
    const bool hidden = kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
    return hidden && !special ? "" : bytes_[static_cast<size_t>(id)];
  }

  bool adds_space_prefix() const override { return space_prefix_.adds; }

 private:
  // Tokens that text becomes through its bytes.
  bool IsText(TokenId id) const { return !IsSpecial(id); }

  Status LoadTokens(const std::vector<std::string_view>& spellings) {
    for (std::string_view spelling : spellings) {
      const TokenId id = static_cast<TokenId>(bytes_.size());
      bytes_.emplace_back(spelling);
      if (kind(id) == TokenKind::kByte) {
        const std::optional<int> value = ByteValue(spelling);
        if (!value) {
          return MalformedFile("tokenizer.ggml.tokens: token " + std::to_string(id) +
                               " is marked as a byte but is not spelled <0x00>..<0xFF>");
        }
        bytes_.back() = static_cast<char>(*value);
      } else if (IsText(id) && by_characters_) {
        bytes_.back() = WithSpaces(spelling);
      } else if (IsText(id)) {
        // What spells no bytes is a token that text does not have.
        if (std::optional<std::string> bytes = BytesOfSpelling(spelling)) bytes_.back() = *bytes;
      } else {
        AddSpecialToken(spelling, id);
      }
    }
    PrepareSpecial();
    normalized_special_.Prepare();
    by_characters_ ? IndexCharacters(spellings) : IndexWords(spellings);
    return Status();
  }

  // A token that is looked for in normalized text is normalized itself.
  void AddSpecialToken(std::string_view spelling, TokenId id) {
    if (!is_normalized_[static_cast<size_t>(id)]) {
      AddSpecial(std::string(spelling), id);
      return;
    }
    AddTo(normalized_special_, NormalizedText(spelling), id);
  }

  // What is done to a text before its added tokens are looked for. Spaces stay spaces.
  std::string NormalizedText(std::string_view text) const {
    std::string normalized = normalize_ ? normalize_(text) : std::string(text);
    if (space_prefix_.adds && space_prefix_.normalizes) normalized.insert(0, 1, ' ');
    return normalized;
  }

  void IndexCharacters(const std::vector<std::string_view>& spellings) {
    for (size_t i = 0; i < spellings.size(); ++i) {
      const TokenId id = static_cast<TokenId>(i);
      const std::string_view spelling = spellings[i];
      if (kind(id) == TokenKind::kByte) by_byte_[static_cast<uint8_t>(bytes_[i][0])] = id;
      // User-defined tokens are what merges give, too: runs of spaces, for one.
      if (!IsMergeable(id) || kind(id) == TokenKind::kByte || spelling.empty()) continue;
      if (CharacterLength(spelling) == spelling.size()) characters_.emplace(spelling, id);
      if (ignore_merges_) spelled_words_.emplace(spelling, id);
      cutter_.AddPiece(std::string(spelling));
    }
    cutter_.Prepare();
    has_bytes_ =
        std::find(by_byte_.begin(), by_byte_.end(), PairMerger::kNothing) == by_byte_.end();
  }

  // Which bytes and words are tokens: those that are spelled so.
  void IndexWords(const std::vector<std::string_view>& spellings) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const TokenId id = static_cast<TokenId>(i);
      if (!IsText(id) || kind(id) == TokenKind::kByte) continue;
      const std::string& bytes = bytes_[i];
      if (bytes.empty() || !BytesOfSpelling(spellings[i])) continue;
      if (bytes.size() == 1) by_byte_[static_cast<uint8_t>(bytes[0])] = id;
      if (ignore_merges_) words_.emplace(bytes, id);
    }
  }

  Status LoadMerges(const std::vector<std::string_view>& merges, const Ids& ids) {
    for (size_t i = 0; i < merges.size(); ++i) {
      const std::string_view merge = merges[i];
      const size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos || space + 1 == merge.size()) {
        return BadMerge(i, merge, "must be two tokens with a space between");
      }
      if (!AddMerge(i, merge.substr(0, space), merge.substr(space + 1), ids)) {
        return BadMerge(i, merge, kNoMerge);
      }
    }
    return Status();
  }

  Status LoadMergePairs(const std::vector<std::pair<std::string_view, std::string_view>>& merges,
                        const Ids& ids) {
    for (size_t i = 0; i < merges.size(); ++i) {
      const auto& [left, right] = merges[i];
      if (!AddMerge(i, left, right, ids)) {
        return BadMerge(i, std::string(left) + " " + std::string(right), kNoMerge);
      }
    }
    return Status();
  }

  // False for what is no merge.
  bool AddMerge(size_t rank, std::string_view left, std::string_view right, const Ids& ids) {
    joined_.assign(left).append(right);
    const auto first = ids.find(left), second = ids.find(right), result = ids.find(joined_);
    if (first == ids.end() || second == ids.end() || result == ids.end()) return false;
    const MergeTable::Merge entry = {static_cast<uint32_t>(rank), result->second};
    // Else text would become a control token.
    if (IsMergeable(result->second)) merges_.Add(first->second, second->second, entry);
    return true;
  }

  bool IsMergeable(TokenId id) const { return IsText(id) || kind(id) == TokenKind::kUserDefined; }

  void EncodeText(std::string_view text, bool first, bool parse_special,
                  std::vector<TokenId>& ids) const override {
    const std::string normalized = NormalizedText(text);
    text = normalized;
    size_t at = 0;
    while (const auto match = normalized_special_.Find(text, at, parse_special)) {
      if (match->begin > at) {
        EncodeNormalized(text.substr(at, match->begin - at), first && at == 0, ids);
      }
      ids.push_back(match->id);
      at = match->end;
    }
    if (at < text.size()) EncodeNormalized(text.substr(at), first && at == 0, ids);
  }

  void EncodeNormalized(std::string_view text, bool first, std::vector<TokenId>& ids) const {
    const bool prefixed = space_prefix_.adds && !space_prefix_.normalizes &&
                          (first || !space_prefix_.first_only) &&
                          !(space_prefix_.unless_there && text.starts_with(' '));
    PairMerger merger(merges_);
    if (by_characters_) {
      std::string spelled = prefixed ? std::string(kSpaceMark) : std::string();
      for (char c : text) c == ' ' ? spelled.append(kSpaceMark) : spelled.append(1, c);
      EncodeCharacters(spelled, merger, ids);
      return;
    }
    std::string with_space;
    if (prefixed) text = with_space = " " + std::string(text);
    WordCache cache;
    const auto encode = [&](std::string_view word) {
      if (ignore_merges_) {
        const auto found = words_.find(word);
        if (found != words_.end()) {
          ids.push_back(found->second);
          return;
        }
      }
      for (char byte : word) merger.Push(by_byte_[static_cast<uint8_t>(byte)]);
      merger.MergeInto(ids);
    };
    pre_tokenizer_.Split(text, [&](std::string_view word) { cache.Encode(word, ids, encode); });
  }

  void EncodeCharacters(std::string_view spelled, PairMerger& merger,
                        std::vector<TokenId>& ids) const {
    WordCache cache;
    bool known = true;  // whether the character before was, within a word
    const auto encode = [&](std::string_view part) {
      const auto found = spelled_words_.find(std::string(part));
      if (found != spelled_words_.end()) {
        ids.push_back(found->second);
        known = true;
        return;
      }
      known = PushCharacters(part, known, merger);
      merger.MergeInto(ids);
    };
    pre_tokenizer_.Split(spelled, [&](std::string_view word) {
      known = true;
      while (!word.empty()) {
        // Without byte tokens, what a part becomes depends on the one before it.
        const size_t length = has_bytes_ ? cutter_.FirstWord(word) : cutter_.FirstPart(word);
        const std::string_view part = word.substr(0, length);
        word.remove_prefix(length);
        has_bytes_ ? cache.Encode(part, ids, encode) : encode(part);
      }
    });
  }

  // A character is its token, else its bytes, else the unknown token.
  bool PushCharacters(std::string_view part, bool known, PairMerger& merger) const {
    while (!part.empty()) {
      const std::string_view character = part.substr(0, CharacterLength(part));
      part.remove_prefix(character.size());
      const auto found = characters_.find(std::string(character));
      const bool was_known = known;
      known = true;
      if (found != characters_.end()) {
        merger.Push(found->second);
      } else if (HasBytes(character)) {
        for (char byte : character) merger.Push(by_byte_[static_cast<uint8_t>(byte)]);
      } else {
        known = false;
        if (traits().unknown && (was_known || !fuse_unknown_)) merger.Push(*traits().unknown);
      }
    }
    return known;
  }

  bool HasBytes(std::string_view character) const {
    for (char byte : character) {
      if (by_byte_[static_cast<uint8_t>(byte)] == PairMerger::kNothing) return false;
    }
    return true;
  }

  PreTokenizer pre_tokenizer_;
  MergeTable merges_;
  bool ignore_merges_;
  std::vector<std::string> bytes_;    // of each token
  std::array<TokenId, 256> by_byte_;  // what a byte begins as
  Ids words_;                         // views of bytes_, where ignore_merges_
  std::string joined_;                // while merges are loaded

  bool by_characters_;
  bool fuse_unknown_;
  SpacePrefix space_prefix_;
  Normalize normalize_;
  std::vector<bool> is_normalized_;  // special tokens found in normalized text, by id
  SpecialTokens normalized_special_;
  std::unordered_map<std::string, TokenId> characters_;     // where by_characters_
  std::unordered_map<std::string, TokenId> spelled_words_;  // and ignore_merges_
  TextCutter cutter_;                                       // where by_characters_
  bool has_bytes_ = false;                                  // a token for each of the 256
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeBytePairTokenizer(const BytePairVocabulary& vocabulary) {
  if (Status status = CheckVocabularyShape(vocabulary); !status.ok()) return status;
  if (vocabulary.merges.size() + vocabulary.merge_pairs.size() >
      std::numeric_limits<uint32_t>::max()) {
    return MalformedFile("tokenizer.ggml.merges has too many entries");
  }
  Result<PreTokenizer> pre_tokenizer =
      PreTokenizer::Create(vocabulary.expressions, vocabulary.matches_only);
  if (!pre_tokenizer.ok()) return pre_tokenizer.status();
  auto tokenizer = std::make_unique<BytePairTokenizer>(vocabulary, *std::move(pre_tokenizer));
  if (Status status = tokenizer->Load(vocabulary); !status.ok()) return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

}  // namespace kvasir
