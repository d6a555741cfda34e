// In a page: wllama 3, which completes prompts and tells how long its engine took: those times are taken. They hold the
// choice of the likeliest token, and a message from and to its worker for each.
import { modelBlob } from './model-blob.mjs';
import { cacheOptions, QUIET, watchMemory } from './wllama.mjs';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** A prompt of so many tokens, which each letter is one of; `turn` gives it another beginning. */
const prompt = (tokens, turn = 0) => LETTERS.repeat(Math.ceil(tokens / 26) + 1).slice(turn % 26, (turn % 26) + tokens);

export async function measure({ model, base, plan }) {
  const { Wllama } = await import(`${base}index.js`);
  const blob = await modelBlob(model);
  const memory = watchMemory();
  const start = performance.now();
  const wllama = new Wllama({ default: `${base}wasm/wllama.wasm` }, QUIET);
  wllama.setCompat(null);
  await wllama.loadModel([blob], {
    n_ctx: plan.contextLength,
    n_threads: plan.threads,
    n_gpu_layers: 0,
    n_parallel: 1,
    ...cacheOptions(plan.kv),
  });
  const loadMs = performance.now() - start;
  const beforeFirst = performance.now();
  await complete(wllama, prompt(plan.prefill[0] ?? 1), 1);
  const firstTokenMs = performance.now() - beforeFirst;
  const rates = [];
  for (const depth of plan.depths) rates.push(...(await ratesAt(wllama, depth, plan)));
  const wasmBytes = await memory.bytes();
  await wllama.exit();
  return { rates, loadMs, firstTokenMs, wasmBytes };
}

/** The engine's times. What the prompt shares with the one before is not computed again. */
async function complete(wllama, text, tokens) {
  const { timings } = await wllama.createCompletion({
    prompt: text,
    max_tokens: tokens,
    temperature: 0,
    samplers: ['top_k'],
    top_k: 1,
    ignore_eos: true,
    cache_prompt: true,
  });
  return timings;
}

async function ratesAt(wllama, depth, { prefill, decode, repetitions }) {
  const context = prompt(depth);
  if (depth > 0) await complete(wllama, context, 1);
  const rates = [];
  let turn = 1;
  const best = async (test, tokens, run) => {
    let tokensPerSecond = 0;
    for (let i = 0; i < repetitions; i++) tokensPerSecond = Math.max(tokensPerSecond, await run());
    rates.push({ test, tokens, depth, tokensPerSecond });
  };
  for (const tokens of prefill) {
    await best('prefill', tokens, async () => {
      const { prompt_n, prompt_ms } = await complete(wllama, context + prompt(tokens, turn++), 1);
      if (prompt_n < tokens) throw new Error(`wllama computed ${prompt_n} tokens of ${tokens}`);
      return (prompt_n * 1000) / prompt_ms;
    });
  }
  for (const tokens of decode) {
    await best('decode', tokens, async () => {
      // The clock starts at the first token.
      const { predicted_n, predicted_ms } = await complete(wllama, context || 'a', tokens + 1);
      return ((predicted_n - 1) * 1000) / predicted_ms;
    });
  }
  return rates;
}
