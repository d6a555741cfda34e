// What is measured of Kvasir, in Node and in pages alike: `loadModel` is the package's, for the platform it runs on.

/** A plan: what to measure of one model file; every system gets the same one.
 * @typedef {{ threads: number, kv: 'f16' | 'i8', prefill: number[], decode: number[], depths: number[],
 *   repetitions: number, contextLength: number }} Plan */

/** What a system says: rates in tokens a second, times in milliseconds, sizes in bytes; unknown is undefined.
 * @typedef {{ rates: { test: 'prefill' | 'decode', tokens: number, depth: number, tokensPerSecond: number }[],
 *   loadMs?: number, firstTokenMs?: number, wasmBytes?: number, overheadBytes?: number, processBytes?: number
 * }} Measurement */

/** Letters of the random models' vocabulary, each a token. */
const FIRST_LETTER = 259;
export const letters = (count) => Array.from({ length: count }, (_, i) => FIRST_LETTER + (i % 26));

/** @returns {Promise<Measurement>} */
export async function measureKvasir(loadModel, source, variant, plan) {
  const { threads, kv, contextLength } = plan;
  const start = performance.now();
  // The session that comes with the model is kept small, since its cache would be counted.
  const model = await loadModel(source, { variant, threads, contextLength: 1 });
  const session = await model.createSession({ kvCache: kv, contextLength });
  const loadMs = performance.now() - start;
  const firstTokenMs = await timeToFirstToken(session, plan.prefill[0] ?? 1);
  const rates = await ratesOf(session, plan);
  const { totalBytes, weightBytes, kvCacheBytes } = await model.memory();
  await model.dispose();
  return { rates, loadMs, firstTokenMs, wasmBytes: totalBytes, overheadBytes: totalBytes - weightBytes - kvCacheBytes };
}

async function timeToFirstToken(session, promptTokens) {
  const start = performance.now();
  await session.generate(letters(promptTokens), { maxTokens: 1, temperature: 0, ignoreEos: true }).result();
  return performance.now() - start;
}

async function ratesOf(session, { prefill, decode, depths, repetitions }) {
  const rates = [];
  for (const depth of depths) {
    for (const [test, counts] of Object.entries({ prefill, decode })) {
      for (const tokens of counts) {
        await session.benchmark({ test, tokens: 1, depth }); // computes the context
        let tokensPerSecond = 0;
        for (let i = 0; i < repetitions; i++) {
          const result = await session.benchmark({ test, tokens, depth });
          tokensPerSecond = Math.max(tokensPerSecond, result.tokensPerSecond);
        }
        rates.push({ test, tokens, depth, tokensPerSecond });
      }
    }
  }
  return rates;
}
