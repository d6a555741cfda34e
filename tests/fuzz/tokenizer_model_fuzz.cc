// libFuzzer target: any bytes as a tokenizer.model, and what it makes of a text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizer/sentencepiece_tokenizer.h"
#include "use_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = kvasir::MakeSentencePieceTokenizer(text);
  if (tokenizer.ok()) kvasir::fuzz::UseTokenizer(**tokenizer);
  return 0;
}
