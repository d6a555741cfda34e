#define LLVMFuzzerTestOneInput FuzzTokenizerJson
#include "../../fuzz/tokenizer_json_fuzz.cc"
#include "run_corpus.h"

TEST(CorpusTest, TokenizerJsonTakesAllInputsThatAreKept) {
  kvasir::RunCorpus("tokenizer_json", FuzzTokenizerJson);
}
