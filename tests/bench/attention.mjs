// What the KV caches and SDPA cost, as a Markdown table: ratios of things measured in one run.
// Usage: npm run bench:attention [-- PRESET...] (default: native wasm-mt wasm-relaxed; THREADS=N for another number than 1)
import { join } from 'node:path';
import { argv, env } from 'node:process';
import { buildPreset } from '../../tools/build/cmake.mjs';
import { BUILD } from '../../tools/setup/paths.mjs';
import { run } from '../../tools/setup/process.mjs';
import { orGiveUp, setUp } from '../../tools/setup.mjs';

const presets = argv.length > 2 ? argv.slice(2) : ['native', 'wasm-mt', 'wasm-relaxed'];
await orGiveUp(() => setUp({ native: true, wasm: true }));
for (const preset of presets) buildPreset(preset, ['attention_bench']);

const results = new Map();
for (const preset of presets) {
  const program = join(BUILD, preset, 'tests/bench/attention_bench');
  const threads = env.THREADS ?? '1';
  const [command, ...args] = preset.startsWith('wasm')
    ? ['node', '--experimental-wasm-relaxed-simd', '--no-liftoff', `${program}.js`, threads]
    : [program, threads];
  results.set(preset, JSON.parse(run(command, args)));
}

const names = Object.keys(results.get(presets[0]));
console.log(`| | ${presets.join(' | ')} |\n|---|${'---:|'.repeat(presets.length)}`);
for (const name of names) {
  const values = presets.map((preset) => results.get(preset)[name].toFixed(3));
  console.log(`| ${name.replaceAll('_', ' ')} | ${values.join(' | ')} |`);
}
