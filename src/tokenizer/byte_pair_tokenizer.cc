#include "tokenizer/byte_pair_tokenizer.h"

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
#include "tokenizer/vocabulary_tokenizer.h"

namespace kvasir {
namespace {

using Ids = std::unordered_map<std::string_view, TokenId>;

constexpr size_t kMaxShown = 40;

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
        merges_(vocabulary.merges.size()),
        ignore_merges_(vocabulary.ignore_merges) {
    by_byte_.fill(PairMerger::kNothing);
  }

  Status Load(const BytePairVocabulary& vocabulary) {
    const Result<Ids> ids = IdsBySpelling(vocabulary.tokens);
    if (!ids.ok()) return ids.status();
    if (Status status = LoadTokens(vocabulary.tokens); !status.ok()) return status;
    return LoadMerges(vocabulary.merges, *ids);
  }

  std::string TokenBytes(TokenId id, bool special) const override {
    if (!IsWithin(id)) return "";
    const bool hidden = kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
    return hidden && !special ? "" : bytes_[static_cast<size_t>(id)];
  }

  bool adds_space_prefix() const override { return false; }

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
      } else if (IsText(id)) {
        // What spells no bytes is a token that text does not have.
        if (std::optional<std::string> bytes = BytesOfSpelling(spelling)) bytes_.back() = *bytes;
      } else {
        AddSpecial(std::string(spelling), id);
      }
    }
    PrepareSpecial();
    IndexWords(spellings);
    return Status();
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
    if (merges.size() > std::numeric_limits<uint32_t>::max()) {
      return MalformedFile("tokenizer.ggml.merges has too many entries");
    }
    std::string joined;
    for (size_t i = 0; i < merges.size(); ++i) {
      const std::string_view merge = merges[i];
      const size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos || space + 1 == merge.size()) {
        return BadMerge(i, merge, "must be two tokens with a space between");
      }
      joined.assign(merge.substr(0, space)).append(merge.substr(space + 1));
      const auto left = ids.find(merge.substr(0, space));
      const auto right = ids.find(merge.substr(space + 1));
      const auto result = ids.find(joined);
      if (left == ids.end() || right == ids.end() || result == ids.end()) {
        return BadMerge(i, merge, "is not made of tokens, or does not give one");
      }
      const MergeTable::Merge entry = {static_cast<uint32_t>(i), result->second};
      // Else text would become a control token.
      if (IsMergeable(result->second)) merges_.Add(left->second, right->second, entry);
    }
    return Status();
  }

  bool IsMergeable(TokenId id) const { return IsText(id) || kind(id) == TokenKind::kUserDefined; }

  void EncodeText(std::string_view text, std::vector<TokenId>& ids) const override {
    PairMerger merger(merges_);
    pre_tokenizer_.Split(text, [&](std::string_view word) {
      if (ignore_merges_) {
        const auto found = words_.find(word);
        if (found != words_.end()) {
          ids.push_back(found->second);
          return;
        }
      }
      for (char byte : word) merger.Push(by_byte_[static_cast<uint8_t>(byte)]);
      merger.MergeInto(ids);
    });
  }

  PreTokenizer pre_tokenizer_;
  MergeTable merges_;
  bool ignore_merges_;
  std::vector<std::string> bytes_;    // of each token
  std::array<TokenId, 256> by_byte_;  // what a byte begins as
  Ids words_;                         // views of bytes_, where ignore_merges_
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeBytePairTokenizer(const BytePairVocabulary& vocabulary) {
  if (Status status = CheckVocabularyShape(vocabulary); !status.ok()) return status;
  Result<PreTokenizer> pre_tokenizer = PreTokenizer::Create(vocabulary.expressions);
  if (!pre_tokenizer.ok()) return pre_tokenizer.status();
  auto tokenizer = std::make_unique<BytePairTokenizer>(vocabulary, *std::move(pre_tokenizer));
  if (Status status = tokenizer->Load(vocabulary); !status.ok()) return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

}  // namespace kvasir
