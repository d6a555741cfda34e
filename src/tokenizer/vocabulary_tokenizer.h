// What tokenizers have in common, whatever kind of vocabulary they read: special
// tokens, and the text between them.
#ifndef KVASIR_TOKENIZER_VOCABULARY_TOKENIZER_H_
#define KVASIR_TOKENIZER_VOCABULARY_TOKENIZER_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace kvasir {

class VocabularyTokenizer : public Tokenizer {
 public:
  std::vector<TokenId> Encode(std::string_view raw, const EncodeOptions& options) const final;

  int32_t vocab_size() const final { return static_cast<int32_t>(kinds_.size()); }
  std::optional<TokenId> bos() const final { return traits_.bos; }
  std::optional<TokenId> eos() const final { return traits_.eos; }
  bool adds_bos() const final { return traits_.add_bos && traits_.bos.has_value(); }
  bool IsSpecial(TokenId id) const final;
  bool IsEndOfGeneration(TokenId id) const final;

 protected:
  struct Traits {
    std::optional<TokenId> bos;
    std::optional<TokenId> eos;
    std::optional<TokenId> unknown;
    std::vector<TokenId> end_of_generation;
    std::vector<TokenId> strip_right;
    std::vector<TokenId> strip_left;
    std::vector<TokenId> single_words;
    bool add_bos = false;
    bool add_eos = false;
  };
  static Traits TraitsOf(const Vocabulary& vocabulary);

  VocabularyTokenizer(std::vector<TokenKind> kinds, Traits traits);

  // Text may spell the special token `id` so. For all of them, then PrepareSpecial.
  void AddSpecial(std::string spelling, TokenId id) { AddTo(special_, std::move(spelling), id); }
  void AddTo(SpecialTokens& tokens, std::string spelling, TokenId id) const;
  void PrepareSpecial() { special_.Prepare(); }

  // Appends the tokens of a text that lies between special tokens. It is whole
  // UTF-8 and not empty. `first`: nothing is before it. `parse_special`: as in
  // EncodeOptions, for tokens that are found in normalized text only.
  virtual void EncodeText(std::string_view text, bool first, bool parse_special,
                          std::vector<TokenId>& ids) const = 0;

  TokenKind kind(TokenId id) const { return kinds_[static_cast<size_t>(id)]; }
  bool IsWithin(TokenId id) const { return id >= 0 && id < vocab_size(); }
  const Traits& traits() const { return traits_; }

 private:
  std::vector<TokenKind> kinds_;
  Traits traits_;
  SpecialTokens special_;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_VOCABULARY_TOKENIZER_H_
