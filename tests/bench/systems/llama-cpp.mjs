// Native llama.cpp, where llama-bench is on the PATH or $LLAMA_BENCH names it. It tells rates only.
import { spawnSync } from 'node:child_process';
import { runProgram } from './run-program.mjs';

const PROGRAM = process.env.LLAMA_BENCH ?? 'llama-bench';

export function nativeLlama() {
  if (spawnSync(PROGRAM, ['--help'], { stdio: 'ignore' }).status !== 0) {
    throw new Error(`${PROGRAM} does not run; set LLAMA_BENCH to llama.cpp's llama-bench`);
  }
  return {
    name: 'llama.cpp, native',
    kind: 'llama.cpp',
    async measure(file, { threads, kv, prefill, decode, depths, repetitions }) {
      const output = await runProgram(
        PROGRAM,
        [
          ...['-m', file, '-t', threads, '-r', repetitions, '-o', 'json'],
          ...['-p', prefill.join(',') || 0, '-n', decode.join(',') || 0, '-d', depths.join(',')],
          ...(kv === 'i8' ? ['-fa', '1', '-ctk', 'q8_0', '-ctv', 'q8_0'] : ['-ctk', 'f16', '-ctv', 'f16']),
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
    },
  };
}
