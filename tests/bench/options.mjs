// The options of `npm run bench`.
import { argv, execPath } from 'node:process';
import { parseArgs } from 'node:util';
import { SHAPES } from './random-model.mjs';
import { RELEASES } from './systems/wllama.mjs';

export const HELP = `Usage: npm run bench -- [OPTIONS]

Kvasir beside wllama and native llama.cpp, on models of real shapes with random
weights. LISTs are separated by commas.

  --systems LIST   node, chromium, firefox (Kvasir in each), wllama, llama.cpp
                   (default all; what is not there is left out with a word)
  --variants LIST  of Kvasir (default relaxed,mt)
  --node LIST      programs that are node (default: this one)
  --wllama LIST    releases (default ${Object.keys(RELEASES)})

  --shapes LIST    ${Object.keys(SHAPES).join(', ')} (default smollm2-135m)
  --mixes LIST     Q4_0, Q8_0, Q4_K_M, F16, F32 (default Q4_0,Q8_0,Q4_K_M)
  --threads LIST   (default 2)       --kv LIST     f16, i8 (default f16)
  --prefill LIST   (default 128)     --decode LIST (default 64)
  --depth LIST     (default 0)
                   KV i8 is compared with q8_0 in wllama, and with the faster
                   of f16 and q8_0 in llama.cpp
  --rounds N       turns that each system has (default 2)
  --repetitions N  of each test in a turn; the best counts (default 2)
  --full           two shapes, prefill 128,512, depth 0,2000,7000, threads 1,2,
                   KV f16,i8, but for what is said: hours

  --json FILE      all figures
  --svg FILE       a chart of the rates`;

const DEFAULTS = {
  systems: 'node,chromium,firefox,wllama,llama.cpp',
  variants: 'relaxed,mt',
  node: execPath,
  wllama: Object.keys(RELEASES).join(','),
  shapes: 'smollm2-135m',
  mixes: 'Q4_0,Q8_0,Q4_K_M',
  threads: '2',
  kv: 'f16',
  prefill: '128',
  decode: '64',
  depth: '0',
  rounds: '2',
  repetitions: '2',
};

const FULL = {
  shapes: 'smollm2-135m,tinyllama-1.1b',
  threads: '1,2',
  kv: 'f16,i8',
  prefill: '128,512',
  depth: '0,2000,7000',
};

const COUNTS = ['threads', 'prefill', 'decode', 'depth', 'rounds', 'repetitions'];
const MAY_BE_NONE = ['prefill', 'decode', 'depth'];
const CHOICES = {
  systems: DEFAULTS.systems.split(','),
  variants: ['relaxed', 'mt', 'relaxed-st', 'st'],
  wllama: Object.keys(RELEASES),
  shapes: Object.keys(SHAPES),
  mixes: ['Q4_0', 'Q8_0', 'Q4_K_M', 'F16', 'F32'],
  kv: ['f16', 'i8'],
};

/** Lists of what was chosen, and `json`, `svg`, `help`. Throws what a person can read. */
export function readOptions(args = argv.slice(2)) {
  const strings = Object.keys(DEFAULTS).map((name) => [name, { type: 'string' }]);
  const { values } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(strings),
      full: { type: 'boolean' },
      json: { type: 'string' },
      svg: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const { json, svg, help, full, ...given } = values;
  const chosen = { ...DEFAULTS, ...(full && FULL), ...given };
  const lists = Object.entries(chosen).map(([name, text]) => [name, readList(name, text)]);
  return { ...Object.fromEntries(lists), json, svg, help };
}

function readList(name, text) {
  const words = text.split(',').filter((word) => word !== '');
  if (words.length === 0) throw new Error(`--${name} is empty`);
  if (COUNTS.includes(name)) return readCounts(name, text, words);
  for (const word of words) {
    if (CHOICES[name] && !CHOICES[name].includes(word)) {
      throw new Error(`--${name} ${word}: one of ${CHOICES[name].join(', ')}`);
    }
  }
  return words;
}

function readCounts(name, text, words) {
  for (const word of words) {
    if (!/^\d{1,7}$/.test(word)) throw new Error(`--${name} ${text}: not whole numbers`);
    if (Number(word) === 0 && !MAY_BE_NONE.includes(name)) throw new Error(`--${name} ${text}: must be 1 or more`);
  }
  const counts = words.map(Number);
  // No prompt, or no text: that test is left out.
  return name === 'depth' ? counts : counts.filter((count) => count > 0);
}
