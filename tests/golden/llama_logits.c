// The logits of llama.cpp after each of some tokens, for generate.py to compare
// with: llama_logits MODEL OUT TOKEN... writes [tokens, vocab] f32 to OUT.
//   cc llama_logits.c -o llama_logits -lllama -lggml
#include <ggml-backend.h>
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>

// On the CPU, with a cache in f32 and attention written out.
static struct llama_context* open_model(const char* path, int tokens) {
  ggml_backend_load_all();
  struct llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  struct llama_model* model = llama_model_load_from_file(path, model_params);
  if (model == NULL) return NULL;
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = (uint32_t)tokens;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.n_threads = params.n_threads_batch = 1;
  return llama_init_from_model(model, params);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int tokens = argc - 3;
  struct llama_context* context = open_model(argv[1], tokens);
  if (context == NULL) return 1;
  struct llama_batch batch = llama_batch_init(tokens, 0, 1);
  batch.n_tokens = tokens;
  for (int i = 0; i < tokens; ++i) {
    batch.token[i] = atoi(argv[3 + i]);
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  if (llama_decode(context, batch) != 0) return 1;
  const int vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
  FILE* out = fopen(argv[2], "wb");
  if (out == NULL) return 1;
  for (int i = 0; i < tokens; ++i) {
    fwrite(llama_get_logits_ith(context, i), sizeof(float), (size_t)vocab, out);
  }
  return fclose(out) == 0 ? 0 : 1;
}
