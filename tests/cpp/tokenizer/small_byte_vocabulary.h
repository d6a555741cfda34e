// Byte-level BPE vocabularies of a few tokens, built merge by merge.
#ifndef KVASIR_TESTS_CPP_TOKENIZER_SMALL_BYTE_VOCABULARY_H_
#define KVASIR_TESTS_CPP_TOKENIZER_SMALL_BYTE_VOCABULARY_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encode_with.h"
#include "tokenizer/byte_pair_tokenizer.h"

namespace kvasir {

// Bytes as GPT-2 spells them.
inline std::string Spelled(std::string_view bytes) {
  std::string spelled;
  for (char c : bytes) {
    const auto is_itself = [](uint32_t b) {
      return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    };
    uint32_t character = static_cast<uint8_t>(c);
    if (!is_itself(character)) {
      uint32_t beyond = 0x100;
      for (uint32_t b = 0; b < character; ++b) beyond += is_itself(b) ? 0 : 1;
      character = beyond;
    }
    if (character < 0x80) {
      spelled += static_cast<char>(character);
    } else {
      spelled += static_cast<char>(0xc0 | character >> 6);
      spelled += static_cast<char>(0x80 | (character & 0x3f));
    }
  }
  return spelled;
}

// Begins with the 256 bytes: the id of each is its value. Words are cut as GPT-2
// does.
class SmallByteVocabulary {
 public:
  SmallByteVocabulary() {
    for (int byte = 0; byte < 256; ++byte) Add(Spelled(std::string(1, static_cast<char>(byte))));
    vocabulary.expressions = {" ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"};
  }

  TokenId Add(std::string spelling, TokenKind kind = TokenKind::kNormal) {
    spellings.push_back(std::move(spelling));
    vocabulary.kinds.push_back(static_cast<int32_t>(kind));
    return static_cast<TokenId>(spellings.size() - 1);
  }

  // The token of both, after the tokens and merges before it.
  TokenId Merge(std::string_view left, std::string_view right) {
    merges.push_back(Spelled(left) + " " + Spelled(right));
    return Add(Spelled(std::string(left).append(right)));
  }

  Result<std::unique_ptr<Tokenizer>> TryMake() {
    vocabulary.tokens.assign(spellings.begin(), spellings.end());
    vocabulary.merges.assign(merges.begin(), merges.end());
    return MakeBytePairTokenizer(vocabulary);
  }

  std::unique_ptr<Tokenizer> Make() { return Made(TryMake()); }

  std::vector<TokenId> Encode(std::string_view text, bool parse_special = false) {
    return EncodeWith(Make(), text, parse_special);
  }

  std::deque<std::string> spellings;
  std::deque<std::string> merges;
  BytePairVocabulary vocabulary;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_TOKENIZER_SMALL_BYTE_VOCABULARY_H_
