#define LLVMFuzzerTestOneInput FuzzSafetensors
#include "../../fuzz/safetensors_fuzz.cc"
#include "run_corpus.h"

TEST(CorpusTest, SafetensorsTakesAllInputsThatAreKept) {
  kvasir::RunCorpus("safetensors", FuzzSafetensors);
}
