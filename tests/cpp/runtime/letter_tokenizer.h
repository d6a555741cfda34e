// A vocabulary for tests: token 0 is BOS, 1 is EOS, 2 and 3 are the two halves
// of "é", and every later token one lower-case letter.
#ifndef KVASIR_TESTS_CPP_RUNTIME_LETTER_TOKENIZER_H_
#define KVASIR_TESTS_CPP_RUNTIME_LETTER_TOKENIZER_H_

#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace kvasir {

class LetterTokenizer : public Tokenizer {
 public:
  explicit LetterTokenizer(int32_t vocab_size) : vocab_size_(vocab_size) {}

  std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const override {
    std::vector<TokenId> ids;
    if (options.add_bos.value_or(true)) ids.push_back(0);
    for (char letter : text) ids.push_back(Letter(letter));
    return ids;
  }
  static TokenId Letter(char letter) { return 4 + (letter - 'a'); }

  std::string TokenBytes(TokenId id, bool /*special*/) const override {
    if (id < 2 || id >= vocab_size_) return "";
    if (id == 2) return "\xc3";
    if (id == 3) return "\xa9";
    return std::string(1, static_cast<char>('a' + (id - 4) % 26));
  }
  bool adds_space_prefix() const override { return false; }
  int32_t vocab_size() const override { return vocab_size_; }
  std::optional<TokenId> bos() const override { return 0; }
  std::optional<TokenId> eos() const override { return 1; }
  bool adds_bos() const override { return true; }
  bool IsSpecial(TokenId id) const override { return id == 0 || id == 1; }
  bool IsEndOfGeneration(TokenId id) const override { return id == 1; }

 private:
  int32_t vocab_size_;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_RUNTIME_LETTER_TOKENIZER_H_
