// How byte-level vocabularies spell bytes: each as one printable character, so
// that tokens and merges can be written as text.
#ifndef KVASIR_TOKENIZER_BYTE_SPELLING_H_
#define KVASIR_TOKENIZER_BYTE_SPELLING_H_

#include <optional>
#include <string>
#include <string_view>

namespace kvasir {

// The bytes that `spelling` stands for; empty where one of its characters stands
// for no byte. Source: GPT-2's encoder.py (https://github.com/openai/gpt-2): bytes
// that are printable in Latin-1 stand for themselves, the others, in order, are
// U+0100 and on ("Ġ" is a space).
std::optional<std::string> BytesOfSpelling(std::string_view spelling);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_BYTE_SPELLING_H_
