// Vocabularies of a few tokens, built token by token.
#ifndef KVASIR_TESTS_CPP_TOKENIZER_SMALL_VOCABULARY_H_
#define KVASIR_TESTS_CPP_TOKENIZER_SMALL_VOCABULARY_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encode_with.h"
#include "tokenizer/sentencepiece_tokenizer.h"

namespace kvasir {

inline const std::string kMark = "\xe2\x96\x81";  // a space in a piece

// Begins with <unk>, <s> and </s>: ids 0, 1 and 2.
class SmallVocabulary {
 public:
  SmallVocabulary() {
    Add("<unk>", TokenKind::kUnknown);
    Add("<s>", TokenKind::kControl);
    Add("</s>", TokenKind::kControl);
    vocabulary.add_bos = false;
  }

  TokenId Add(std::string spelling, TokenKind kind = TokenKind::kNormal, float score = 0) {
    spellings.push_back(std::move(spelling));
    vocabulary.scores.push_back(score);
    vocabulary.kinds.push_back(static_cast<int32_t>(kind));
    return static_cast<TokenId>(spellings.size() - 1);
  }

  // Returns the id of <0x00>.
  TokenId AddBytes() {
    const TokenId first = static_cast<TokenId>(spellings.size());
    for (int value = 0; value < 256; ++value) {
      char spelling[8];
      std::snprintf(spelling, sizeof(spelling), "<0x%02X>", value);
      Add(spelling, TokenKind::kByte);
    }
    return first;
  }

  std::unique_ptr<Tokenizer> Make() {
    vocabulary.tokens.assign(spellings.begin(), spellings.end());
    return Made(MakeSentencePieceTokenizer(vocabulary));
  }

  std::vector<TokenId> Encode(std::string_view text, bool parse_special = false) {
    return EncodeWith(Make(), text, parse_special);
  }

  std::deque<std::string> spellings;
  SentencePieceVocabulary vocabulary;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_TOKENIZER_SMALL_VOCABULARY_H_
