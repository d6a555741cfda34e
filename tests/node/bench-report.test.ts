/** What `npm run bench` makes of its figures. */
import { expect, test } from 'vitest';
import { readOptions } from '../bench/options.mjs';
import { compare } from '../bench/report/compare.mjs';
import { markdown } from '../bench/report/markdown.mjs';
import { chart } from '../bench/report/svg.mjs';
import { measureInTurns } from '../bench/rounds.mjs';

const rate = (tokensPerSecond: number) => ({ test: 'decode', tokens: 64, depth: 0, tokensPerSecond });
const system = (name: string, kind: string, turns: number[]) => ({
  name,
  kind,
  measure() {
    const speed = turns.shift();
    if (speed === undefined) throw new Error('tired\nof it');
    return { rates: [rate(speed)], loadMs: 1000 / speed, wasmBytes: speed << 20 };
  },
});

test('the best of the turns counts, and ratios are to llama.cpp and to the better wllama', async () => {
  const order: string[] = [];
  const systems = [
    system('Kvasir', 'kvasir', [60, 80]),
    system('wllama 2', 'wllama', [10, 20]),
    system('wllama 3', 'wllama', [16, 4]),
    system('llama.cpp', 'llama.cpp', [100, 40]),
  ];
  const results = compare(await measureInTurns(systems, 'a file', {}, 2, (line: string) => order.push(line)));
  expect(order.slice(0, 5)).toEqual([
    ...systems.map(({ name }) => `${name}, round 1`),
    'Kvasir, round 2', // in turns
  ]);
  expect(results[0]).toMatchObject({ loadMs: 12.5, wasmBytes: 80 << 20 });
  expect(results[0]?.rates[0]).toMatchObject({ tokensPerSecond: 80, toLlama: 0.8, toWllama: 4 });
});

test('a system that fails is left out and named, and the others are compared without it', async () => {
  const systems = [system('Kvasir <relaxed>', 'kvasir', [50]), system('wllama 2', 'wllama', [])];
  const results = compare(await measureInTurns(systems, 'a file', {}, 1, () => undefined));
  expect(results[0]?.rates[0]?.toWllama).toBeUndefined();
  const options = { rounds: [1], repetitions: [1], prefill: [], decode: [64], depth: [0] };
  const cases = [{ shape: 'small', mix: 'Q4_0', threads: 2, kv: 'f16', results }];
  const report = { machine: 'this one', options, cases, wasm: [{ name: 'Kvasir', bytes: 2, gzipped: 1 }] };
  const text = markdown(report);
  expect(text).toContain('| small Q4_0 | 2 | f16 | 0 | Kvasir <relaxed> | 50.0 |  |  |');
  expect(text).toContain('- small Q4_0, wllama 2: tired');
  expect(chart(report)).toContain('Kvasir &lt;relaxed&gt;');
  expect(chart(report).match(/<rect/g)).toHaveLength(1);
});

test('options are lists, and what makes no sense is refused by name', () => {
  expect(readOptions(['--threads', '1,2', '--prefill', '0', '--depth', '0,7'])).toMatchObject({
    threads: [1, 2],
    prefill: [],
    depth: [0, 7],
    decode: [64],
  });
  for (const [name, text, words] of [
    ['threads', '0', '1 or more'],
    ['rounds', '0', '1 or more'],
    ['repetitions', '2,0', '1 or more'],
    ['threads', ',', 'empty'],
    ['decode', 'x', 'whole'],
    ['systems', 'tpu', 'one of'],
  ] as const) {
    expect(() => readOptions([`--${name}`, text])).toThrow(new RegExp(`--${name}.*${words}`));
  }
});
