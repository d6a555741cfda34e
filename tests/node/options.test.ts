/** What the API refuses, and how it says so; with a stand-in for the WebAssembly module. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KvasirError } from '../../web/package/dist/index-node.js';
import type { Model } from '../../web/package/dist/model.js';
import type { GenerateOptions, LoadOptions, ModelSource } from '../../web/package/dist/types.js';
import { loadFake } from './fake/fake-model.js';

let model: Model;
beforeAll(async () => {
  model = await loadFake();
});
afterAll(() => model.dispose());

test.each<[string, object]>([
  ['maxTokens', { maxTokens: -1 }],
  ['maxTokens', { maxTokens: 1.5 }],
  ['maxTokens', { maxTokens: '5' }],
  ['temperature', { temperature: -0.1 }],
  ['temperature', { temperature: NaN }],
  ['temperature', { temperature: Infinity }],
  ['topK', { topK: -1 }],
  ['topP', { topP: 0 }],
  ['topP', { topP: 1.01 }],
  ['minP', { minP: -0.01 }],
  ['repetitionPenalty', { repetitionPenalty: 0 }],
  ['frequencyPenalty', { frequencyPenalty: 1e9 }],
  ['presencePenalty', { presencePenalty: null }],
  ['penaltyWindow', { penaltyWindow: -2 }],
  ['seed', { seed: -1 }],
  ['seed', { seed: 2 ** 53 }],
  ['stop', { stop: '' }],
  ['stop', { stop: ['ok', ''] }],
  ['stop', { stop: 5 }],
  ['logitBias', { logitBias: { 128: 1 } }],
  ['logitBias', { logitBias: new Map([[1, NaN]]) }],
  ['logitBias', { logitBias: 'x' }],
  ['ignoreEos', { ignoreEos: 1 }],
  ['parseSpecial', { parseSpecial: 'yes' }],
  ['signal', { signal: {} }],
])('generate refuses a wrong %s by name: %o', (name, options) => {
  const refuse = (): unknown => model.generate('x', options as GenerateOptions);
  expect(refuse).toThrow(KvasirError);
  expect(refuse).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(name) }));
});

test.each<[string, unknown]>([
  ['prompt', 5],
  ['prompt', null],
  ['prompt[1]', [1, 128]],
  ['prompt[0]', [-1]],
  ['prompt[0]', ['a']],
])('generate refuses a wrong %s: %o', (name, prompt) => {
  expect(() => model.generate(prompt as string)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(name) }),
  );
});

test('a generation accepts every option at its limits', async () => {
  const options: GenerateOptions = {
    maxTokens: 1,
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 1,
    repetitionPenalty: 1.1,
    frequencyPenalty: -2,
    presencePenalty: 2,
    penaltyWindow: -1,
    logitBias: { 5: -Infinity },
    seed: Number.MAX_SAFE_INTEGER,
    stop: ['\n'],
  };
  expect((await model.generate(Int32Array.of(1, 2), options).result()).seed).toBe(Number.MAX_SAFE_INTEGER);
});

test('a seed that was not given is drawn anew and told', async () => {
  const seeds = await Promise.all(
    [1, 2, 3].map(async () => (await model.generate('x', { maxTokens: 0 }).result()).seed),
  );
  expect(new Set(seeds).size).toBe(3);
  expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
});

test.each<[string, object]>([
  ['threads', { threads: 0 }],
  ['threads', { threads: 1.5 }],
  ['threads', { variant: 'st', threads: 2 }],
  ['contextLength', { contextLength: 0 }],
  ['kvCache', { kvCache: 'f64' }],
  ['window', { window: -1 }],
  ['window', { window: 1.5 }],
  ['sink', { sink: 4 }],
  ['sink', { window: 8, sink: -1 }],
  ['variant', { variant: 'fast' }],
  ['signal', { signal: 'now' }],
  ['onProgress', { onProgress: true }],
])('loadModel refuses a wrong %s by name: %o', async (name, options) => {
  await expect(loadFake(new Uint8Array(8), options as LoadOptions)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining(name),
  });
});

test.each<[unknown]>([[null], [''], [[]], [{}], [5], [['a', 5]], ['http://']])(
  'loadModel refuses the source %o',
  async (source) => {
    await expect(loadFake(source as ModelSource)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('source'),
    });
  },
);

test('tokenize and detokenize refuse what is no text and no token', async () => {
  const code = 'INVALID_ARGUMENT';
  await expect(model.tokenize(5 as unknown as string)).rejects.toMatchObject({ code });
  await expect(model.tokenize('x', { addBos: 1 as unknown as boolean })).rejects.toMatchObject({ code });
  await expect(model.detokenize([128])).rejects.toMatchObject({ code });
  await expect(model.logits([1, -1])).rejects.toMatchObject({ code });
});
