// libFuzzer target: any bytes as a tokenizer.model, and what it makes of a text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tokenizer/sentencepiece_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view proto(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = kvasir::MakeSentencePieceTokenizer(proto);
  if (!tokenizer.ok()) return 0;
  for (const std::string_view text : {"ab <s>c\n",
                                      " \xc3\xa9"
                                      "a\xe2\x96\x81",
                                      "\xff<0x41>A  b"}) {
    const auto ids = (*tokenizer)->Encode(text, {true, true, true});
    for (kvasir::TokenId id : ids) {
      if (id < 0 || id >= (*tokenizer)->vocab_size()) std::abort();
    }
    (*tokenizer)->Decode(ids, true);
  }
  return 0;
}
