#include "tokenizer/space_mark.h"

namespace kvasir {

std::string WithSpaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const size_t mark = piece.find(kSpaceMark);
    text += piece.substr(0, mark);
    if (mark == std::string_view::npos) break;
    text += ' ';
    piece.remove_prefix(mark + kSpaceMark.size());
  }
  return text;
}

}  // namespace kvasir
