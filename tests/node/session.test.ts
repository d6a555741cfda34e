/** Sessions with the real engine: reuse, forks, what is saved, windows, shifts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embeddedModel, loadModel } from '../../web/package/dist/index-node.js';
import type { Model } from '../../web/package/dist/model.js';
import type { Session } from '../../web/package/dist/session.js';
import type { GenerateOptions, KvCacheType, Variant } from '../../web/package/dist/types.js';
import { kvasir } from './run.js';
import { hasSharedModels, stories260K } from './models.js';

const PROMPT = 'Once upon a time, there was a fox named Mabel.';

const CASES: readonly { variant: Variant; kvCache: KvCacheType }[] = (
  ['st', 'mt', 'relaxed', 'relaxed-st'] as const
).flatMap((variant) => (['f32', 'f16', 'i8'] as const).map((kvCache) => ({ variant, kvCache })));

const greedy = (options: GenerateOptions = {}): GenerateOptions => ({
  temperature: 0,
  maxTokens: 32,
  ignoreEos: true,
  ...options,
});

describe.each(CASES)('in $variant with a cache of $kvCache', (options) => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(embeddedModel, options);
  });
  afterAll(() => model.dispose());

  test('only what differs from the prompt before is computed', async () => {
    const count = (await model.tokenize(PROMPT)).length;
    const first = await model.generate(PROMPT, greedy()).result();
    expect(first.usage).toEqual({ promptTokens: count, reusedTokens: 0, completionTokens: 32 });
    const again = await model.generate(PROMPT, greedy()).result();
    expect(again.usage.reusedTokens).toBe(count - 1);
    expect(again.text).toBe(first.text);
    const tokens = [...(await model.tokenize(PROMPT)), ...first.tokens];
    const longer = await model.generate(tokens, greedy({ maxTokens: 4 })).result();
    expect(longer.usage).toMatchObject({ promptTokens: count + 32, reusedTokens: count + 31 });
    const other = await model.generate('Long ago', greedy({ maxTokens: 4 })).result();
    expect(other.usage.reusedTokens).toBe(1); // BOS
  });

  test('a fork goes its own way, and its parent goes on undisturbed', async () => {
    await using session = await model.createSession();
    await session.generate(PROMPT, greedy({ maxTokens: 1 })).result();
    await using fork = await session.fork();
    expect(await fork.tokens()).toEqual(await session.tokens());
    const aside = await fork.generate(`${PROMPT} She lived`, greedy()).result();
    const parent = await session.generate(PROMPT, greedy()).result();
    await using fresh = await model.createSession();
    expect(parent.text).toBe((await fresh.generate(PROMPT, greedy()).result()).text);
    expect(aside.text).toBe((await fresh.generate(`${PROMPT} She lived`, greedy()).result()).text);
  });

  test('a saved session goes on in another engine as it would have here', async () => {
    await using session = await model.createSession();
    const begun = await session.generate(PROMPT, greedy()).result();
    const tokens = [...(await model.tokenize(PROMPT)), ...begun.tokens];
    const saved = await session.save();
    const here = await session.generate(tokens, greedy()).result();
    const other = await loadModel(embeddedModel, options);
    const restored = await other.restoreSession(saved);
    expect(restored.info).toEqual(session.info);
    const there = await restored.generate(tokens, greedy()).result();
    expect(there.text).toBe(here.text);
    expect(there.usage.reusedTokens).toBe(tokens.length - 1);
    await other.dispose();
  });
});

describe('a session', () => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(embeddedModel, { variant: 'st', kvCache: 'i8' });
  });
  afterAll(() => model.dispose());

  test('takes what the model was loaded with, or what it is told', async () => {
    await using inherited = await model.createSession();
    expect(inherited.info).toEqual({ contextLength: 512, kvCache: 'i8', window: 0, sink: 0 });
    await using told = await model.createSession({ contextLength: 100, kvCache: 'f32', window: 50 });
    expect(told.info).toEqual({ contextLength: 100, kvCache: 'f32', window: 50, sink: 4 });
  });

  test('holds its tokens, and forgets them when told', async () => {
    await using session = await model.createSession();
    const prompt = await model.tokenize(PROMPT);
    const { tokens } = await session.generate(PROMPT, greedy({ maxTokens: 5 })).result();
    expect(await session.tokens()).toEqual([...prompt, ...tokens.slice(0, -1)]);
    await session.truncate(3);
    expect(await session.tokens()).toEqual(prompt.slice(0, 3));
    await expect(session.truncate(4)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(session.truncate(-1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(session.truncate(0.5)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await session.tokens()).toHaveLength(3);
    await session.clear();
    expect(await session.tokens()).toEqual([]);
  });

  test('frees its memory', async () => {
    const before = await model.memory();
    const session = await model.createSession();
    const during = await model.memory();
    expect(during.kvCacheBytes).toBeGreaterThan(before.kvCacheBytes);
    await session.dispose();
    await session.dispose();
    expect((await model.memory()).kvCacheBytes).toBe(before.kvCacheBytes);
    expect(() => session.generate('x')).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
    await expect(session.save()).rejects.toMatchObject({ code: 'DISPOSED' });
  });

  test('that was disposed of before a generation began says so, whenever the generation was made', async () => {
    const session = await model.createSession();
    const early = session.generate('Once', { maxTokens: 2 });
    const begun = session.generate('Once', { maxTokens: 2 });
    const result = begun.result();
    const disposed = session.dispose();
    await expect(early.result()).rejects.toMatchObject({
      code: 'DISPOSED',
      message: expect.stringContaining('session') as string,
    });
    expect((await result).tokens).toHaveLength(2);
    await disposed;
    await expect(model.generate('Once', { maxTokens: 2 }).result()).resolves.toMatchObject({ finishReason: 'length' });
  });

  test('refuses a length that is none', async () => {
    await using session = await model.createSession();
    await session.generate(PROMPT, greedy({ maxTokens: 2 })).result();
    const before = await session.tokens();
    for (const length of [undefined, null, NaN, '3', Infinity]) {
      await expect(session.truncate(length as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(await session.tokens()).toEqual(before);
  });

  test('waits with its changes for the generation that runs', async () => {
    await using session = await model.createSession();
    const generation = session.generate(PROMPT, greedy()).result();
    await session.clear();
    expect((await generation).tokens).toHaveLength(32);
    expect(await session.tokens()).toEqual([]);
  });

  test('is refused when what was saved is damaged, foreign or nothing', async () => {
    await using session = await model.createSession();
    await session.generate(PROMPT, greedy({ maxTokens: 2 })).result();
    const saved = await session.save();
    const restore = (bytes: Uint8Array): Promise<Session> => model.restoreSession(bytes);
    await expect(restore(saved.slice(0, -1))).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
    await expect(restore(new Uint8Array())).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
    const damaged = saved.slice();
    damaged[saved.length >> 1] = (damaged[saved.length >> 1] ?? 0) ^ 4;
    await expect(restore(damaged)).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
    await expect(restore('saved' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await using right = await restore(saved);
    expect(await right.tokens()).toEqual(await session.tokens());
  });

  test.skipIf(!hasSharedModels)('is refused by another model', async () => {
    await using session = await model.createSession();
    await session.generate(PROMPT, greedy({ maxTokens: 2 })).result();
    const other = await loadModel(stories260K, { variant: 'st' });
    await expect(other.restoreSession(await session.save())).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await other.dispose();
  });

  test('ends when its context is full, or shifts when asked', async () => {
    await using session = await model.createSession({ contextLength: 40 });
    const ended = await session.generate(PROMPT, greedy({ maxTokens: 100 })).result();
    expect(ended.finishReason).toBe('context');
    const shifted = await session.generate(PROMPT, greedy({ maxTokens: 100, contextShift: { keep: 1 } })).result();
    expect(shifted.finishReason).toBe('length');
    expect(shifted.text.startsWith(ended.text)).toBe(true);
    const standard = await session.generate(PROMPT, greedy({ maxTokens: 100, contextShift: true })).result();
    expect(standard.finishReason).toBe('length');
    await expect(session.generate(PROMPT, { contextShift: { keep: 39 } }).result()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  test('with a window never fills up, and a window beyond the context is refused', async () => {
    await using session = await model.createSession({ contextLength: 64, window: 60, sink: 4 });
    const before = await model.memory();
    const result = await session.generate(PROMPT, greedy({ maxTokens: 300 })).result();
    expect(result.finishReason).toBe('length');
    expect((await model.memory()).kvCacheBytes).toBe(before.kvCacheBytes);
    await expect(session.truncate(20)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(model.createSession({ contextLength: 64, window: 61 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await expect(model.createSession({ contextLength: 1000 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

test('a session that one process saved goes on in another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kvasir-'));
  const model = await loadModel(embeddedModel, { variant: 'st' });
  try {
    const session = await model.createSession();
    const { tokens } = await session.generate(PROMPT, greedy()).result();
    const prompt = [...(await model.tokenize(PROMPT)), ...tokens];
    writeFileSync(join(folder, 'saved'), await session.save());
    const entry = new URL('../../web/package/dist/index-node.js', import.meta.url).href;
    const script = `
      import { readFileSync } from 'node:fs';
      import { embeddedModel, loadModel } from ${JSON.stringify(entry)};
      const model = await loadModel(embeddedModel, { variant: 'st' });
      const session = await model.restoreSession(new Uint8Array(readFileSync(process.argv[1])));
      const { tokens, usage } = await session
        .generate(JSON.parse(process.argv[2]), { temperature: 0, maxTokens: 32, ignoreEos: true }).result();
      console.log(JSON.stringify({ tokens, reused: usage.reusedTokens }));
      await model.dispose();`;
    const args = ['--input-type=module', '-e', script, join(folder, 'saved'), JSON.stringify(prompt)];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const here = await session.generate(prompt, greedy()).result();
    expect(JSON.parse(stdout)).toEqual({ tokens: here.tokens, reused: prompt.length - 1 });
  } finally {
    await model.dispose();
    rmSync(folder, { recursive: true });
  }
});

describe('the command', () => {
  const story = ['generate', '--prompt', PROMPT, '--temperature', '0', '--ignore-eos', '--json', '--variant', 'st'];

  test.each(['f32', 'f16', 'i8'])('stores its context as %s', async (kv) => {
    const { stdout, code } = await kvasir([...story, '--kv', kv, '--max-tokens', '8']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ usage: { completionTokens: 8 } });
  });

  test('slides over a text that is longer than the context', async () => {
    const { stdout } = await kvasir([...story, '--context', '48', '--window', '40', '--sink', '2', '-n', '120']);
    expect(JSON.parse(stdout)).toMatchObject({ finishReason: 'length', usage: { completionTokens: 120 } });
  });

  test('shifts a context that is full', async () => {
    const { stdout } = await kvasir([...story, '--context', '40', '--context-shift', '--keep', '1', '-n', '120']);
    expect(JSON.parse(stdout)).toMatchObject({ finishReason: 'length', usage: { completionTokens: 120 } });
    const { code, stderr } = await kvasir([...story, '--keep', '1']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--context-shift') });
  });

  test.each([
    ['--kv', 'i4'],
    ['--window', '1000'],
    ['--sink', '3'],
    ['--window', '510', '--sink', '3'],
  ])('refuses %s %s', async (...options) => {
    const { code, stderr } = await kvasir([...story, ...options]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/kvCache|window|sink/);
  });
});

describe('perplexity', () => {
  const heldout = fileURLToPath(new URL('../../models/heldout.txt', import.meta.url));
  const measure = async (...options: string[]): Promise<{ perplexity: number; tokens: number; texts: number }> => {
    const { stdout, stderr } = await kvasir(['perplexity', '--json', '--variant', 'mt', ...options]);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as { perplexity: number; tokens: number; texts: number };
  };

  test('is that of the logits', async () => {
    const model = await loadModel(embeddedModel, { variant: 'st', kvCache: 'f32' });
    const tokens = await model.tokenize(PROMPT);
    const logits = await model.logits(tokens);
    const width = model.info.vocabularySize;
    let total = 0;
    for (let i = 0; i + 1 < tokens.length; i++) {
      const row = logits.subarray(i * width, (i + 1) * width);
      const sum = row.reduce((before, logit) => before + Math.exp(logit), 0);
      total += Math.log(sum) - (row[tokens[i + 1] ?? 0] ?? 0);
    }
    await model.dispose();
    const { perplexity, tokens: count } = await measure('--kv', 'f32', PROMPT);
    expect(count).toBe(tokens.length - 1);
    expect(perplexity).toBeCloseTo(Math.exp(total / count), 3);
  });

  test('of the embedded model suffers by less than 0.5 % from a quantized cache', async () => {
    const options = ['--file', heldout, '--separator=---'];
    const exact = await measure(...options, '--kv', 'f32');
    expect(exact.texts).toBe(25);
    for (const kv of ['f16', 'i8']) {
      const { perplexity, tokens } = await measure(...options, '--kv', kv);
      expect(tokens).toBe(exact.tokens);
      expect(Math.abs(perplexity / exact.perplexity - 1)).toBeLessThan(0.005);
      expect(perplexity).not.toBe(exact.perplexity);
    }
  });

  test.skipIf(!hasSharedModels)('of stories260K suffers by less than 0.5 % from a quantized cache', async () => {
    const options = ['--model', stories260K, '--file', heldout, '--separator=---'];
    const exact = await measure(...options, '--kv', 'f32');
    const { perplexity } = await measure(...options, '--kv', 'i8');
    expect(Math.abs(perplexity / exact.perplexity - 1)).toBeLessThan(0.005);
  });

  test('needs room for a token and one before it', async () => {
    const { code, stderr } = await kvasir(['perplexity', '--context', '1', 'hello']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--context') });
  });

  test('separates texts whatever ends the lines', async () => {
    for (const end of ['\n', '\r\n']) {
      const text = ['one', '---', 'two', ''].join(end);
      const { stdout } = await kvasir(['perplexity', '--json', '--separator', '---', '-'], { input: text });
      expect(JSON.parse(stdout)).toMatchObject({ texts: 2 });
    }
  });

  test('needs a text', async () => {
    expect((await kvasir(['perplexity'])).code).toBe(2);
    expect((await kvasir(['perplexity', ''])).code).toBe(2);
  });
});
