#include "tokenizer/tokenizer.h"

#include "tokenizer/utf8.h"

namespace kvasir {

std::string Tokenizer::Decode(std::span<const TokenId> ids, bool special) const {
  StreamingDetokenizer detokenizer(*this, true, special);
  std::string text;
  for (TokenId id : ids) text += detokenizer.Push(id);
  return text + detokenizer.Flush();
}

StreamingDetokenizer::StreamingDetokenizer(const Tokenizer& tokenizer, bool at_start, bool special)
    : tokenizer_(tokenizer), at_start_(at_start), special_(special) {}

std::string StreamingDetokenizer::Push(TokenId id) {
  std::string bytes = tokenizer_.TokenBytes(id, special_);
  if (tokenizer_.IsSpecial(id)) {
    at_start_ = true;
  } else if (!bytes.empty()) {
    if (at_start_ && tokenizer_.adds_space_prefix() && bytes[0] == ' ') bytes.erase(0, 1);
    at_start_ = false;
  }
  pending_ += bytes;
  return TakeWholeUtf8(pending_);
}

std::string StreamingDetokenizer::Flush() { return TakeAllUtf8(pending_); }

}  // namespace kvasir
