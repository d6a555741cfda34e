/** The API with the real engine. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embeddedModel, loadModel } from '../../web/package/dist/index-node.js';
import type { Model } from '../../web/package/dist/model.js';
import type { GenerateOptions, KvCacheType, Piece, Variant } from '../../web/package/dist/types.js';
import { expectedStory, hasSharedModels, stories260K, vocabularyOnly } from './models.js';

const VARIANTS: readonly Variant[] = ['st', 'mt', 'relaxed', 'relaxed-st'];

const isThreaded = (variant: Variant): boolean => variant === 'mt' || variant === 'relaxed';

async function piecesOf(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const all: Piece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

describe.skipIf(!hasSharedModels)('stories260K writes the reference text', () => {
  const cases = VARIANTS.flatMap((variant) =>
    (['f32', 'f16'] as KvCacheType[]).flatMap((kvCache) =>
      (isThreaded(variant) ? [1, 2, 3] : [1]).map((threads) => ({ variant, kvCache, threads })),
    ),
  );
  test.each(cases)('in $variant with $threads threads and a cache of $kvCache', async (options) => {
    const model = await loadModel(stories260K, options);
    expect(model.engine).toEqual({ ...options, contextLength: 512, window: 0, sink: 0 });
    const result = await model.generate('', { temperature: 0, maxTokens: 256 }).result();
    await model.dispose();
    expect(result.text).toBe(expectedStory());
    expect(result).toMatchObject({ finishReason: 'length', usage: { promptTokens: 1, completionTokens: 256 } });
  });
});

test('half a surrogate pair is U+FFFD, and what is around it stays', async () => {
  const model = await loadModel(embeddedModel, { variant: 'st' });
  for (const [text, expected] of [
    ['abc\ud800', 'abc\ufffd'],
    ['a\ud800é', 'a\ufffdé'],
    ['\udc00日x', '\ufffd日x'],
    ['\ud83d\ude00', '\ud83d\ude00'],
  ] as const) {
    expect(await model.detokenize(await model.tokenize(text))).toBe(expected);
  }
  await model.dispose();
});

test('options that are no object are refused by name', async () => {
  const model = await loadModel(embeddedModel, { variant: 'st' });
  const code = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  for (const options of [null, 5, 'x'] as never[]) {
    expect(() => model.generate('a', options)).toThrow(code);
    await expect(model.createSession(options)).rejects.toEqual(code);
    await expect(model.tokenize('a', options)).rejects.toEqual(code);
    await expect(loadModel(embeddedModel, options)).rejects.toEqual(code);
  }
  await expect(model.createSession({ kvCache: null as never })).rejects.toEqual(code);
  const all = Object.fromEntries(Array.from({ length: model.info.vocabularySize }, (_, id) => [id, -Infinity]));
  await expect(model.generate('a', { logitBias: all }).result()).rejects.toEqual(code);
  await model.dispose();
});

test('every variant computes the same logits', async () => {
  const all: Float32Array[] = [];
  for (const variant of VARIANTS) {
    const model = await loadModel(embeddedModel, { variant, kvCache: 'f32' });
    all.push(await model.logits(await model.tokenize('Once upon a time, there was a fox named Mabel. She lived')));
    await model.dispose();
  }
  const [plain = new Float32Array(), ...others] = all;
  for (const logits of others) {
    let difference = 0;
    for (const [i, logit] of logits.entries()) difference = Math.max(difference, Math.abs(logit - (plain[i] ?? NaN)));
    expect(difference).toBeLessThan(1e-2); // fused multiply-adds, and what rounds the other way for them
  }
});

describe.each(VARIANTS)('the embedded model in %s', (variant) => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(embeddedModel, { variant });
  });
  afterAll(() => model.dispose());

  const greedy = (prompt: string, options: GenerateOptions = {}) =>
    model.generate(prompt, { temperature: 0, maxTokens: 48, ...options });

  test('streams whole pieces that make up the result', async () => {
    const generation = greedy('');
    const pieces = await piecesOf(generation);
    const result = await generation.result();
    expect(result.text.length).toBeGreaterThan(20);
    expect(pieces.map(({ text }) => text).join('')).toBe(result.text);
    expect(pieces.flatMap(({ tokens }) => tokens)).toEqual(result.tokens);
    expect(result.timings.timeToFirstTokenMs).toBeGreaterThan(0);
    expect(result.timings.decodeTokensPerSecond).toBeGreaterThan(0);
    expect(result.usage).toEqual({
      promptTokens: (await model.tokenize('')).length,
      reusedTokens: 0,
      completionTokens: result.tokens.length,
    });
  });

  test('repeats itself with the same seed and not with another', async () => {
    const story = async (seed: number) => (await model.generate('', { seed, maxTokens: 48 }).result()).text;
    const [first, again, other] = [await story(7), await story(7), await story(8)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('takes the prompt as text or as its tokens', async () => {
    const text = 'Once upon a time';
    const tokens = await model.tokenize(text);
    expect((await model.generate(tokens, { temperature: 0, maxTokens: 8 }).result()).text).toBe(
      (await greedy(text, { maxTokens: 8 }).result()).text,
    );
  });

  test('ends before a stop string that is spread over tokens, and lets none of it out', async () => {
    const pieces = await piecesOf(greedy(''));
    const text = pieces.map((piece) => piece.text).join('');
    const border =
      (pieces[5]?.text.length ?? 0) > 0
        ? pieces
            .slice(0, 6)
            .map((piece) => piece.text)
            .join('').length
        : 0;
    const stop = text.slice(border - 2, border + 2);
    const stopped = greedy('', { stop: ['never said', stop] });
    const shown = (await piecesOf(stopped)).map((piece) => piece.text).join('');
    expect(shown).toBe(text.slice(0, text.indexOf(stop)));
    expect(await stopped.result()).toMatchObject({ text: shown, finishReason: 'stop' });
  });

  test('forbids a token by its bias', async () => {
    const [first] = (await greedy('').result()).tokens;
    const other = await greedy('', { maxTokens: 1, logitBias: { [Number(first)]: -Infinity } }).result();
    expect(other.tokens).not.toContain(first);
  });

  test('gives logits whose largest is the greedy token', async () => {
    const tokens = await model.tokenize('Once upon a time');
    const rows = await model.logits(tokens);
    const columns = model.info.vocabularySize;
    expect(rows.length).toBe(tokens.length * columns);
    const last = rows.subarray(rows.length - columns);
    const [next] = (await greedy('Once upon a time', { maxTokens: 1 }).result()).tokens;
    expect(last.indexOf(Math.max(...last))).toBe(next);
  });

  test('tokenizes and detokenizes without loss', async () => {
    const text = 'Once upon a time, there was a café. 🦊 And "quotes"!';
    const tokens = await model.tokenize(text);
    expect(await model.detokenize(tokens)).toBe(text);
    expect(tokens[0] === model.info.bosToken).toBe(model.info.addsBos);
    expect(await model.tokenize(text, { addBos: false })).toEqual(model.info.addsBos ? tokens.slice(1) : tokens);
  });

  test('tells the memory it takes', async () => {
    const { weightBytes, kvCacheBytes, totalBytes } = await model.memory();
    expect(weightBytes).toBe(model.info.weightBytes);
    expect(kvCacheBytes).toBeGreaterThan(0);
    expect(totalBytes).toBeGreaterThan(weightBytes + kvCacheBytes);
  });
});

describe.skipIf(!hasSharedModels)('a small context', () => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(stories260K, { contextLength: 16, variant: 'st' });
  });
  afterAll(() => model.dispose());

  test('refuses a prompt that does not fit and stays usable', async () => {
    const tokens = Array.from({ length: 17 }, () => 5);
    await expect(model.generate(tokens).result()).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    await expect(model.logits(tokens)).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    expect((await model.generate('', { maxTokens: 2 }).result()).tokens).toHaveLength(2);
  });

  test('ends a generation when it is full', async () => {
    const result = await model.generate('', { temperature: 0, ignoreEos: true }).result();
    expect(result.finishReason).toBe('context');
    expect(expectedStory().startsWith(result.text)).toBe(true);
  });

  test('longer than the model allows is an INVALID_ARGUMENT', async () => {
    await expect(loadModel(stories260K, { contextLength: 513 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe.skipIf(!hasSharedModels)('code points that are spread over tokens', () => {
  // "<0x00>" is token 3. A penalty makes the three bytes of the euro sign follow each other.
  const [e2, x82, ac] = [0xe2 + 3, 0x82 + 3, 0xac + 3];
  const euro: GenerateOptions = {
    temperature: 0,
    logitBias: { [e2]: 300, [x82]: 250, [ac]: 225 },
    presencePenalty: 100,
    penaltyWindow: -1,
  };
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(stories260K, { variant: 'st' });
  });
  afterAll(() => model.dispose());

  test('come in one piece, whole', async () => {
    expect(await piecesOf(model.generate('', { ...euro, maxTokens: 3 }))).toEqual([
      { text: '€', tokens: [e2, x82, ac] },
    ]);
  });

  test('become U+FFFD when the end cuts them', async () => {
    const result = await model.generate('', { ...euro, maxTokens: 2 }).result();
    expect(result.tokens).toEqual([e2, x82]);
    expect(result.text).toMatch(/^\uFFFD+$/);
  });
});

describe('a file', () => {
  test('that is no model is MALFORMED_FILE', async () => {
    await expect(loadModel(new Uint8Array(1000).fill(1))).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
    await expect(loadModel(new Uint8Array(0))).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
  });

  test('that ends early is MALFORMED_FILE', async () => {
    const bytes = readFileSync(embeddedModel);
    await expect(loadModel(new Blob([bytes.subarray(0, bytes.length / 2)]))).rejects.toMatchObject({
      code: 'MALFORMED_FILE',
    });
  });

  test.skipIf(!hasSharedModels)('with a vocabulary only tokenizes, and says that it cannot generate', async () => {
    const model = await loadModel(vocabularyOnly);
    expect(model.info.vocabularyOnly).toBe(true);
    expect(await model.detokenize(await model.tokenize('Hello world'))).toBe('Hello world');
    expect(() => model.generate('x')).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MODEL' }));
    await expect(model.logits([1])).rejects.toMatchObject({ code: 'UNSUPPORTED_MODEL' });
    await model.dispose();
  });
});
