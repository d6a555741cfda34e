// How SentencePiece's vocabularies spell a space.
#ifndef KVASIR_TOKENIZER_SPACE_MARK_H_
#define KVASIR_TOKENIZER_SPACE_MARK_H_

#include <string>
#include <string_view>

namespace kvasir {

inline constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581

// The text of a piece.
std::string WithSpaces(std::string_view piece);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_SPACE_MARK_H_
