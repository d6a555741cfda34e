// Cuts long text into parts that can be encoded one by one with the same tokens
// as the whole: byte-pair merges in a short text stay within the processor's
// caches, and memory does not grow with the text.
#ifndef KVASIR_TOKENIZER_TEXT_CUTTER_H_
#define KVASIR_TOKENIZER_TEXT_CUTTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kvasir {

class TextCutter {
 public:
  static constexpr size_t kPartBytes = 2048;

  // Spaces may be spelled " " or U+2581.
  void AddPiece(std::string_view spelling);
  // After the last AddPiece.
  void Prepare();

  // The length of the first part of `text`, which is UTF-8: at least kPartBytes
  // or all of it, up to a place between two code points that are neighbours in
  // no piece, so that no token can reach across.
  size_t FirstPart(std::string_view text) const;

  // The same up to the first space where no token reaches across, if that comes
  // earlier: a word, most often.
  size_t FirstWord(std::string_view text) const;

 private:
  bool CanMeet(uint32_t first, uint32_t second) const;

  std::vector<uint64_t> neighbours_;  // pairs of code points, sorted by Prepare
  size_t distinct_ = 0;               // how many there were at the last sorting
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_TEXT_CUTTER_H_
