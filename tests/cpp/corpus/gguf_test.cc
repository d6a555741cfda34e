#define LLVMFuzzerTestOneInput FuzzGguf
#include "../../fuzz/gguf_fuzz.cc"
#include "run_corpus.h"

TEST(CorpusTest, GgufTakesAllInputsThatAreKept) { kvasir::RunCorpus("gguf", FuzzGguf); }
