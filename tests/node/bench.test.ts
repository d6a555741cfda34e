/** `kvasir bench`, `session.benchmark`, and the models that benchmarks are run with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedModel, loadModel } from '../../web/package/dist/index-node.js';
import { writeRandomModel } from '../bench/random-model.mjs';
import { kvasir } from './run.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('measures every combination and prints it as JSON', async () => {
  const lists = ['--prefill', '4,130', '--decode', '2', '--depth', '5,0', '--threads', '1', '--kv', 'f16,i8'];
  const { stdout, stderr, code } = await kvasir(['bench', ...lists, '-r', '1', '--variant', 'mt', '--json']);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  const rows = JSON.parse(stdout) as Record<string, unknown>[];
  expect(rows.map(({ test: name, n, depth, kv }) => [name, n, depth, kv].join(' '))).toEqual(
    ['f16', 'i8'].flatMap((kv) =>
      [0, 5].flatMap((depth) => [`prefill 4 ${depth} ${kv}`, `prefill 130 ${depth} ${kv}`, `decode 2 ${depth} ${kv}`]),
    ),
  );
  for (const row of rows) {
    expect(row).toMatchObject({ variant: 'mt', threads: 1 });
    expect(row.tokensPerSecond).toBeGreaterThan(0);
  }
});

test('prints a table', async () => {
  const { stdout, code } = await kvasir(['bench', '--prefill', '0', '--decode', '1', '-r', '1', '--variant', 'st']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\| test .*\n\|---.*\n\| decode 1 \| 0 \| 1 \| f16 \| st \| [\d.]+ \|\n$/);
});

test.each([
  [['--prefill', '0', '--decode', '0'], 'nothing to measure'],
  [['--depth', 'deep'], '--depth must be whole numbers'],
  [['--repetitions', '0'], '--repetitions must be at least 1'],
  [['--kv', 'f64'], 'kvCache'],
  [['extra'], 'takes no "extra"'],
])('refuses %j', async (args, complaint) => {
  const { stdout, stderr, code } = await kvasir(['bench', '--variant', 'st', ...args]);
  expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
  expect(stderr).toContain(complaint);
});

test('a session tells its own speed', async () => {
  await using model = await loadModel(embeddedModel, { variant: 'st' });
  const session = await model.createSession({ contextLength: 64 });
  const result = await session.benchmark({ test: 'decode', tokens: 4, depth: 10 });
  expect(result.tokensPerSecond).toBeCloseTo(4000 / result.milliseconds, 6);
  expect(await session.tokens()).toHaveLength(10);
  await expect(session.benchmark({ test: 'prefill', tokens: 65 })).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
  await expect(session.benchmark({ test: 'prefill', tokens: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

const LAYERS = { layers: 2, vocabulary: 600, context: 256 };

const MODELS = [
  ...['F32', 'F16', 'Q8_0', 'Q4_0', 'Q4_K_M'].map((mix) => ({ shape: 'smollm2-135m', mix })),
  ...['Q4_0', 'Q4_K_M'].map((mix) => ({ shape: 'tinyllama-1.1b', mix })),
];

test.each(MODELS)('a random model of the shape of $shape in $mix loads and gives numbers', async ({ shape, mix }) => {
  const file = join(folder, `${shape}-${mix}.gguf`);
  writeRandomModel(shape, mix, file, shape === 'smollm2-135m' ? LAYERS : { ...LAYERS, layers: 1, ffn: 1024 });
  await using model = await loadModel(file, { variant: 'relaxed-st' });
  const ids = await model.tokenize('abc');
  expect(ids).toHaveLength(3);
  const logits = await model.logits(ids);
  expect(logits.every(Number.isFinite)).toBe(true);
  expect(new Set(logits.slice(0, 600)).size).toBeGreaterThan(500);
});

// The small model of one variant is that of all: relaxed sums are the same integers.
test.each(['Q8_0', 'Q4_0', 'Q4_K_M'])('variants agree on a model of %s', async (mix) => {
  const file = join(folder, `variants-${mix}.gguf`);
  writeRandomModel('smollm2-135m', mix, file, LAYERS);
  const tokens = Array.from({ length: 20 }, (_, i) => (i * 37) % 600);
  const results: Float32Array[] = [];
  for (const variant of ['st', 'mt', 'relaxed', 'relaxed-st'] as const) {
    await using model = await loadModel(file, { variant });
    results.push(await model.logits(tokens));
  }
  const [first = new Float32Array(), ...others] = results;
  const largest = first.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const other of others) {
    const worst = other.reduce((most, value, i) => Math.max(most, Math.abs(value - (first[i] ?? NaN))), 0);
    expect(worst).toBeLessThan(2e-2 * largest);
  }
});
