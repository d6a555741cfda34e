// Native llama.cpp, where llama-bench is on the PATH or $LLAMA_BENCH names it. It tells rates only.
// Against an i8 cache it takes whichever of its f16 and q8_0 caches is faster.
import { spawnSync } from 'node:child_process';
import { best } from '../rounds.mjs';
import { runProgram } from './run-program.mjs';

const PROGRAM = process.env.LLAMA_BENCH ?? 'llama-bench';

export function nativeLlama() {
  if (spawnSync(PROGRAM, ['--help'], { stdio: 'ignore' }).status !== 0) {
    throw new Error(`${PROGRAM} does not run; set LLAMA_BENCH to llama.cpp's llama-bench`);
  }
  return {
    name: 'llama.cpp, native',
    kind: 'llama.cpp',
    async measure(file, plan) {
      const f16 = await measureWith('f16', file, plan);
      return plan.kv === 'f16' ? f16 : best(f16, await measureWith('q8_0', file, plan));
    },
  };
}

async function measureWith(cacheType, file, { threads, prefill, decode, depths, repetitions }) {
  const output = await runProgram(
    PROGRAM,
    [
      ...['-m', file, '-t', threads, '-r', repetitions, '-o', 'json'],
      ...['-p', prefill.join(',') || 0, '-n', decode.join(',') || 0, '-d', depths.join(',')],
      ...['-ctk', cacheType, '-ctv', cacheType, ...(cacheType === 'q8_0' ? ['-fa', '1'] : [])],
    ].map(String),
  );
  const rows = JSON.parse(output.slice(output.indexOf('[')));
  return {
    rates: rows.map(({ n_prompt, n_gen, n_depth, samples_ts }) => ({
      test: n_prompt > 0 ? 'prefill' : 'decode',
      tokens: n_prompt || n_gen,
      depth: n_depth,
      tokensPerSecond: Math.max(...samples_ts),
    })),
  };
}
