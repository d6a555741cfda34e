// The logits of Kvasir for quantized.py to compare: kvasir_logits MODEL OUT GREEDY
// TOKEN... runs the tokens and GREEDY more, each the likeliest, writes [tokens, vocab]
// f32 to OUT and prints all tokens.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "model/gguf_model.h"
#include "shared_models.h"

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const kvasir::GgufModel model(kvasir::ReadFile(argv[1]).value_or(""));
  if (!model.status().ok()) {
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    return 1;
  }
  std::vector<int32_t> tokens;
  for (int i = 4; i < argc; ++i) tokens.push_back(std::atoi(argv[i]));
  const auto logits = model.Logits(tokens, std::atoi(argv[3]), 17);
  if (!logits.ok()) return 1;
  std::ofstream(argv[2], std::ios::binary)
      .write(reinterpret_cast<const char*>(logits->data()),
             static_cast<std::streamsize>(logits->size() * sizeof(float)));
  for (int32_t token : tokens) std::printf("%d ", token);
  return 0;
}
