// Text to token ids and back: one interface for every kind of vocabulary.
#ifndef KVASIR_TOKENIZER_TOKENIZER_H_
#define KVASIR_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kvasir {

using TokenId = int32_t;

struct EncodeOptions {
  // Put BOS first; without a value, as the vocabulary says (add_bos_token).
  std::optional<bool> add_bos;
  // Read the spelling of a control or user-defined token ("<|end|>") as that
  // token. Otherwise control tokens in text are plain text; user-defined tokens
  // are always matched, as SentencePiece does.
  bool parse_special = false;
  // Put EOS last; without a value, as the vocabulary says (add_eos_token).
  std::optional<bool> add_eos = std::nullopt;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Invalid UTF-8 is replaced by U+FFFD, never refused.
  virtual std::vector<TokenId> Encode(std::string_view text,
                                      const EncodeOptions& options) const = 0;

  // The bytes that a token adds to a text, its space prefix included; may be
  // part of a code point. Control tokens (BOS, EOS) and the unknown token add
  // nothing, or their spelling where `special`; ids outside the vocabulary
  // nothing at all.
  virtual std::string TokenBytes(TokenId id, bool special = false) const = 0;

  // True when text gets a space before its first character, and again after a
  // special token (SentencePiece's dummy prefix); decoding takes it away there.
  virtual bool adds_space_prefix() const = 0;

  virtual int32_t vocab_size() const = 0;
  virtual std::optional<TokenId> bos() const = 0;
  virtual std::optional<TokenId> eos() const = 0;
  virtual bool adds_bos() const = 0;
  // Not made of text: control tokens, user-defined ones, the unknown token, and
  // ids outside the vocabulary.
  virtual bool IsSpecial(TokenId id) const = 0;
  // Ends a generation: EOS, and end-of-turn tokens.
  virtual bool IsEndOfGeneration(TokenId id) const = 0;

  // The text of `ids`, whole; incomplete UTF-8 at the end becomes U+FFFD.
  std::string Decode(std::span<const TokenId> ids, bool special = false) const;
};

// Gives whole UTF-8 as tokens come: the bytes of a code point that is spread
// over tokens are held back until it is complete.
class StreamingDetokenizer {
 public:
  // `at_start`: the first token begins a text, or follows a special token, so
  // its space prefix is dropped. A completion of text passes false.
  explicit StreamingDetokenizer(const Tokenizer& tokenizer, bool at_start = true,
                                bool special = false);

  // The text that became whole with this token; bytes that can never become
  // UTF-8 are replaced by U+FFFD.
  std::string Push(TokenId id);
  // What is still held back, as U+FFFD.
  std::string Flush();

 private:
  const Tokenizer& tokenizer_;
  bool at_start_;
  bool special_;
  std::string pending_;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_TOKENIZER_H_
