// Kvasir beside wllama and native llama.cpp on models of real shapes, in one run: Markdown, and JSON and SVG if wanted.
// Usage: npm run bench [-- OPTIONS]; see --help.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { buildPackageIfNeeded } from '../../tools/build.mjs';
import { orGiveUp } from '../../tools/setup.mjs';
import { BUILD } from '../../tools/setup/paths.mjs';
import { HELP, readOptions } from './options.mjs';
import { browserOf } from './page/browser.mjs';
import { writeRandomModel } from './random-model.mjs';
import { compare } from './report/compare.mjs';
import { markdown } from './report/markdown.mjs';
import { chart } from './report/svg.mjs';
import { measureInTurns } from './rounds.mjs';
import { kvasirInBrowser } from './systems/kvasir-browser.mjs';
import { kvasirInNode } from './systems/kvasir-node.mjs';
import { nativeLlama } from './systems/llama-cpp.mjs';
import { wllama } from './systems/wllama.mjs';
import { wasmSizes } from './wasm-sizes.mjs';

const say = (line) => process.stderr.write(`${line}\n`);

/** A system: { name, kind, measure(file, plan) }, as measure-kvasir.mjs describes plans and what is measured. */
async function systemsOf({ systems, variants, node, wllama: releases }) {
  const sources = {
    node: () => node.flatMap((program) => variants.map((variant) => kvasirInNode(program, variant))),
    chromium: () => kvasirIn('chromium'),
    firefox: () => kvasirIn('firefox'),
    wllama: async () => {
      const browser = await browserOf('chromium');
      return releases.map((release) => wllama(release, browser));
    },
    'llama.cpp': () => [nativeLlama()],
  };
  async function kvasirIn(name) {
    const browser = await browserOf(name);
    return variants.map((variant) => kvasirInBrowser(browser, variant));
  }
  const found = [];
  for (const name of systems) {
    try {
      found.push(...(await sources[name]()));
    } catch (error) {
      say(`without ${name}: ${error.message}`);
    }
  }
  return found;
}

/** A case: one model file, with one number of threads and one type of KV cache. */
function* casesOf({ shapes, mixes, threads: threadCounts, kv: kvTypes }) {
  for (const shape of shapes) {
    for (const mix of mixes) {
      for (const threads of threadCounts) for (const kv of kvTypes) yield { shape, mix, threads, kv };
    }
  }
}

function modelFile(shape, mix) {
  const folder = join(BUILD, 'bench');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${shape}-${mix}.gguf`);
  if (!existsSync(file)) writeRandomModel(shape, mix, file);
  readFileSync(file); // From here on it is in the system's cache.
  return file;
}

async function main(options) {
  await buildPackageIfNeeded();
  const systems = await systemsOf(options);
  const { prefill, decode, repetitions } = options;
  // Each depth computes on from the one before.
  const depths = options.depth.toSorted((a, b) => a - b);
  const contextLength = Math.ceil((Math.max(...depths) + Math.max(...prefill, ...decode) + 2) / 256) * 256;
  const cases = [];
  for (const { shape, mix, threads, kv } of casesOf(options)) {
    const file = modelFile(shape, mix);
    const plan = { threads, kv, prefill, decode, depths, contextLength, repetitions: repetitions[0] };
    const title = `${shape} ${mix}, ${threads} threads, KV ${kv}`;
    const results = await measureInTurns(systems, file, plan, options.rounds[0], (line) => say(`${title}: ${line}`));
    cases.push({ shape, mix, threads, kv, results: compare(results) });
  }
  const report = { machine: machine(), options, cases, wasm: wasmSizes(options) };
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  if (options.svg) writeFileSync(options.svg, chart(report));
  console.log(markdown(report));
}

function machine() {
  return `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
}

function optionsOrUsage() {
  try {
    return readOptions();
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    return process.exit(2);
  }
}

const options = optionsOrUsage();
if (options.help) console.log(HELP);
else await orGiveUp(() => main(options));
