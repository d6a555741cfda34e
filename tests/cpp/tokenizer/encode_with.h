// What small vocabularies of all kinds share.
#ifndef KVASIR_TESTS_CPP_TOKENIZER_ENCODE_WITH_H_
#define KVASIR_TESTS_CPP_TOKENIZER_ENCODE_WITH_H_

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace kvasir {

// The tokenizer that was made, or null and a failed test.
inline std::unique_ptr<Tokenizer> Made(Result<std::unique_ptr<Tokenizer>> tokenizer) {
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

inline std::vector<TokenId> EncodeWith(const std::unique_ptr<Tokenizer>& tokenizer,
                                       std::string_view text, bool parse_special) {
  if (tokenizer == nullptr) return {};
  EncodeOptions options;
  options.parse_special = parse_special;
  return tokenizer->Encode(text, options);
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_TOKENIZER_ENCODE_WITH_H_
