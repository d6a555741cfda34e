// The tokenizer against byte-pair merging written down as plainly as it can be.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "small_vocabulary.h"

namespace kvasir {
namespace {

// Merges, over and over, the adjacent pair whose joint spelling has the best
// score, the leftmost of equals; what is no token falls back to bytes.
class PlainBytePairs {
 public:
  PlainBytePairs(const SmallVocabulary& small, TokenId first_byte) : first_byte_(first_byte) {
    for (size_t i = 0; i < small.spellings.size(); ++i) {
      if (small.vocabulary.kinds[i] != static_cast<int32_t>(TokenKind::kNormal)) continue;
      tokens_[small.spellings[i]] = {static_cast<TokenId>(i), small.vocabulary.scores[i]};
    }
  }

  std::vector<TokenId> Encode(const std::string& text) const {
    std::string marked = kMark;
    for (char c : text) marked += c == ' ' ? kMark : std::string(1, c);
    std::vector<std::string_view> symbols;  // one behind the other in `marked`
    for (size_t at = 0; at < marked.size();) {
      const size_t begin = at++;
      while (at < marked.size() && (marked[at] & 0xc0) == 0x80) ++at;
      symbols.push_back(std::string_view(marked).substr(begin, at - begin));
    }
    while (MergeBest(symbols)) {
    }
    std::vector<TokenId> ids;
    for (std::string_view symbol : symbols) {
      const auto found = tokens_.find(symbol);
      if (found != tokens_.end()) {
        ids.push_back(found->second.id);
        continue;
      }
      for (char byte : symbol) ids.push_back(first_byte_ + static_cast<uint8_t>(byte));
    }
    return ids;
  }

 private:
  struct Token {
    TokenId id;
    float score;
  };

  static std::string_view Joined(std::string_view left, std::string_view right) {
    return {left.data(), left.size() + right.size()};
  }

  bool MergeBest(std::vector<std::string_view>& symbols) const {
    size_t best = symbols.size();
    float best_score = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = tokens_.find(Joined(symbols[i], symbols[i + 1]));
      if (found == tokens_.end()) continue;
      if (best == symbols.size() || found->second.score > best_score) {
        best = i;
        best_score = found->second.score;
      }
    }
    if (best == symbols.size()) return false;
    symbols[best] = Joined(symbols[best], symbols[best + 1]);
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    return true;
  }

  TokenId first_byte_;
  std::map<std::string, Token, std::less<>> tokens_;
};

class BytePairReferenceTest : public ::testing::Test {
 protected:
  BytePairReferenceTest() : random_(3), first_byte_(small_.AddBytes()) {
    for (const char* letter : {"a", "b", "c", "\xc3\xa9", kMark.c_str()}) {
      small_.Add(letter, TokenKind::kNormal, -50);
    }
    // Each longer piece joins two that are there, with a random score, ties included.
    while (small_.spellings.size() < first_byte_ + 256u + 40u) {
      const std::string piece = RandomPiece() + RandomPiece();
      // A space begins a piece or makes up all of it, as in real vocabularies.
      const size_t mark = piece.rfind(kMark);
      const bool spaces_only = piece.find_first_not_of(kMark) == std::string::npos;
      if (mark != std::string::npos && mark != 0 && !spaces_only) continue;
      small_.Add(piece, TokenKind::kNormal, -static_cast<float>(random_() % 20));
    }
  }

  std::string RandomPiece() {
    const size_t first = static_cast<size_t>(first_byte_) + 256;
    return small_.spellings[first + random_() % (small_.spellings.size() - first)];
  }

  std::string RandomText(size_t length) {
    static const std::vector<std::string> kLetters = {"a", "a", "b", "c", " ", "\xc3\xa9", "z"};
    std::string text;
    while (text.size() < length) text += kLetters[random_() % kLetters.size()];
    return text;
  }

  std::mt19937 random_;
  SmallVocabulary small_;
  TokenId first_byte_;
};

TEST_F(BytePairReferenceTest, ShortTextsHaveTheReferencesIds) {
  const auto tokenizer = small_.Make();
  const PlainBytePairs reference(small_, first_byte_);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = RandomText(1 + random_() % 40);
    ASSERT_EQ(tokenizer->Encode(text, {}), reference.Encode(text)) << text;
    ASSERT_EQ(tokenizer->Decode(tokenizer->Encode(text, {})), text);
  }
}

TEST_F(BytePairReferenceTest, ALongTextEncodedInPartsHasTheIdsOfTheWhole) {
  const auto tokenizer = small_.Make();
  const PlainBytePairs reference(small_, first_byte_);
  for (int i = 0; i < 4; ++i) {
    const std::string text = RandomText(3000);
    EXPECT_EQ(tokenizer->Encode(text, {}), reference.Encode(text));
  }
}

}  // namespace
}  // namespace kvasir
