// libFuzzer target: any bytes as a tokenizer.json, and what it makes of a text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tokenizer/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = kvasir::MakeTokenizerFromJson(json, {});
  if (!tokenizer.ok()) return 0;
  // Short, since an expression may take exponential time.
  for (const std::string_view text : {"ab <s>c\n",
                                      " \xc3\xa9"
                                      "a\xe2\x96\x81",
                                      "\xff<0x41>"}) {
    const auto ids = (*tokenizer)->Encode(text, {true, true, true});
    for (kvasir::TokenId id : ids) {
      if (id < 0 || id >= (*tokenizer)->vocab_size()) std::abort();
    }
    (*tokenizer)->Decode(ids, true);
  }
  return 0;
}
