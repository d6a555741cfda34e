// libFuzzer target: any bytes as a tokenizer.json, and what it makes of a text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizer/tokenizer_json.h"
#include "use_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = kvasir::MakeTokenizerFromJson(text, {});
  if (tokenizer.ok()) kvasir::fuzz::UseTokenizer(**tokenizer);
  return 0;
}
