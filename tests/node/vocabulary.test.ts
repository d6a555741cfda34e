/** Vocabularies of other people's models, against the ids of a reference (files beside them). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadModel } from '../../web/package/dist/index-node.js';
import type { Model } from '../../web/package/dist/model.js';
import { hasSharedModels, sharedModels } from './models.js';

interface Example {
  readonly text: string;
  readonly ids: number[];
}

function examples(file: string): Example[] {
  const texts = readFileSync(`${file}.inp`, 'utf8').split('\n__ggml_vocab_test__\n');
  const lines = readFileSync(`${file}.out`, 'utf8').split('\n');
  return texts.map((text, index) => ({ text, ids: (lines[index] ?? '').split(' ').filter(Boolean).map(Number) }));
}

const names = ['llama-spm', 'phi-3', 'gpt-2', 'starcoder', 'deepseek-coder'];

describe.skipIf(!hasSharedModels).each(names)('the vocabulary of %s', (name) => {
  const file = fileURLToPath(new URL(`ggml-vocab-${name}.gguf`, sharedModels));
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(file, { variant: 'st' });
  });
  afterAll(() => model.dispose());

  test('gives the ids of the reference', async () => {
    const all = examples(file);
    expect(all.length).toBeGreaterThan(40);
    for (const { text, ids } of all) {
      expect({ text, ids: await model.tokenize(text, { addBos: false }) }).toEqual({ text, ids });
    }
  });

  test('gives the text back', async () => {
    for (const { text, ids } of examples(file)) expect(await model.detokenize(ids)).toBe(text);
  });
});
