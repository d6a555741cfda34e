// In a page: wllama 2, by its low-level calls. Prefill is one call with all tokens, decode one call a token; nothing is
// sampled or turned to text. Each call is a message to its worker and back, which takes some 0.1 ms.
import { letters } from '../systems/measure-kvasir.mjs';
import { modelBlob } from './model-blob.mjs';
import { cacheOptions, QUIET, watchMemory } from './wllama.mjs';

export async function measure({ model, base, plan }) {
  const { Wllama } = await import(`${base}index.js`);
  const blob = await modelBlob(model);
  const memory = watchMemory();
  const start = performance.now();
  const paths = {
    'single-thread/wllama.wasm': `${base}single-thread/wllama.wasm`,
    'multi-thread/wllama.wasm': `${base}multi-thread/wllama.wasm`,
  };
  const wllama = new Wllama(paths, QUIET);
  await wllama.loadModel([blob], {
    n_ctx: plan.contextLength,
    n_threads: plan.threads,
    ...cacheOptions(plan.kv),
  });
  const loadMs = performance.now() - start;
  const firstTokenMs = await timeToFirstToken(wllama, plan.prefill[0] ?? 1);
  const rates = [];
  for (const depth of plan.depths) rates.push(...(await ratesAt(wllama, depth, plan)));
  const wasmBytes = await memory.bytes();
  await wllama.exit();
  return { rates, loadMs, firstTokenMs, wasmBytes };
}

async function timeToFirstToken(wllama, promptTokens) {
  const start = performance.now();
  await wllama.samplingInit({ temp: 0 });
  await wllama.decode(letters(promptTokens), {});
  await wllama.samplingSample();
  return performance.now() - start;
}

async function ratesAt(wllama, depth, { prefill, decode, repetitions }) {
  await wllama.kvClear();
  await wllama.decode(letters(depth), { skipLogits: true });
  const best = async (test, tokens, run) => {
    let tokensPerSecond = 0;
    for (let i = 0; i < repetitions; i++) {
      const start = performance.now();
      await run();
      tokensPerSecond = Math.max(tokensPerSecond, (tokens * 1000) / (performance.now() - start));
      await (depth > 0 ? wllama.kvRemove(depth, -1) : wllama.kvClear());
    }
    return { test, tokens, depth, tokensPerSecond };
  };
  const rates = [];
  for (const tokens of prefill) rates.push(await best('prefill', tokens, () => wllama.decode(letters(tokens), {})));
  for (const tokens of decode) {
    const oneByOne = async () => {
      for (const token of letters(tokens)) await wllama.decode([token], {});
    };
    rates.push(await best('decode', tokens, oneByOne));
  }
  return rates;
}
