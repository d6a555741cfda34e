// Hugging Face's tokenizers in JavaScript. Apart, since their types do not pass the TypeScript compiler.
import { Tokenizer } from '@huggingface/tokenizers';

export function referenceTokenizer(json, config) {
  return new Tokenizer(json, config);
}
