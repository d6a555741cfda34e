// UTF-8 that comes in pieces, and its white space.
#ifndef KVASIR_TOKENIZER_UTF8_H_
#define KVASIR_TOKENIZER_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kvasir {

// Takes from `bytes` all that can be decided: whole code points as they are,
// and U+FFFD for each maximal part that can never become one (as the WHATWG
// decoder does). What may still become a code point stays in `bytes`.
std::string TakeWholeUtf8(std::string& bytes);

// The same for the end of a text: what is incomplete becomes U+FFFD.
std::string TakeAllUtf8(std::string& bytes);

// Of the first code point of UTF-8 that is whole, in bytes; not of an empty one.
size_t CharacterLength(std::string_view text);

// Of the last one, 0 of an empty text.
size_t LastCharacterLength(std::string_view text);

// How many bytes of white space (the property White_Space) UTF-8 begins or ends with.
size_t LeadingWhiteSpace(std::string_view text);
size_t TrailingWhiteSpace(std::string_view text);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_UTF8_H_
