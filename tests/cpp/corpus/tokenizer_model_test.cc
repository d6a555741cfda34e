#define LLVMFuzzerTestOneInput FuzzTokenizerModel
#include "../../fuzz/tokenizer_model_fuzz.cc"
#include "run_corpus.h"

TEST(CorpusTest, TokenizerModelTakesAllInputsThatAreKept) {
  kvasir::RunCorpus("tokenizer_model", FuzzTokenizerModel);
}
