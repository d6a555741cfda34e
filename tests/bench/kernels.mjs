// How fast the kernels are, natively and in WebAssembly, as a Markdown table; in parentheses, what share of the rate at
// which the same build reads memory with as many threads the weights or caches are read at.
// Usage: npm run bench:kernels [-- PRESET...] (default: native wasm-mt wasm-relaxed; FILTER=REGEX for some of them only)
import { join } from 'node:path';
import { argv, env } from 'node:process';
import { buildPreset } from '../../tools/build/cmake.mjs';
import { BUILD } from '../../tools/setup/paths.mjs';
import { run } from '../../tools/setup/process.mjs';
import { orGiveUp, setUp } from '../../tools/setup.mjs';

const READ = 'Read';
const OPTIONS = ['--benchmark_format=json', '--benchmark_min_time=0.05', '--benchmark_repetitions=3'];

function measure(preset) {
  const program = join(BUILD, preset, 'tests/bench/kernel_bench');
  const filter = env.FILTER === undefined ? '.' : `^${READ}/|${env.FILTER}`;
  const options = [...OPTIONS, `--benchmark_filter=${filter}`];
  const [command, ...args] = preset.startsWith('wasm')
    ? ['node', '--experimental-wasm-relaxed-simd', '--no-liftoff', `${program}.js`, ...options]
    : [program, ...options];
  const { context, benchmarks } = JSON.parse(run(command, args));
  const sums = `${context.sums_of_small_weights}, ${context.sums_of_bytes} for bytes`;
  // Of the repetitions the best counts: what else the machine does only takes away.
  const rates = new Map();
  for (const { name, run_type: kind, ...result } of benchmarks) {
    const kernel = name.replace('/real_time', '');
    if (kind === 'iteration' && !(rates.get(kernel)?.['GB/s'] > result['GB/s'])) rates.set(kernel, result);
  }
  return { sums, rates };
}

function cell(rates, name) {
  const rate = rates.get(name);
  if (rate === undefined) return '';
  const [kernel] = name.split('/');
  const bytes = `${rate['GB/s'].toFixed(1)} GB/s`;
  if (kernel === READ) return bytes;
  const products = `${rate['GMAC/s']?.toFixed(1)} GMAC/s`;
  if (kernel === 'GEMM') return products;
  const share = (100 * rate['GB/s']) / rates.get(`${READ}/${name.split('/').at(-1)}`)['GB/s'];
  return `${kernel === 'GEMV' ? `${products}, ` : ''}${bytes} (${share.toFixed(0)} %)`;
}

/** GEMM/Q8_0/128/2 -> "GEMM, Q8_0, 128 inputs | 2" */
function label(name) {
  const parts = name.split('/');
  const threads = parts.pop();
  const [kernel, type, size] = parts;
  const ofSize = kernel === 'GEMM' ? [`${size} inputs`] : size === undefined ? [] : [`depth ${size}`];
  return `${[kernel, type, ...ofSize].filter((part) => part !== undefined).join(', ')} | ${threads}`;
}

async function main() {
  const presets = argv.length > 2 ? argv.slice(2) : ['native', 'wasm-mt', 'wasm-relaxed'];
  const wasm = presets.some((preset) => preset.startsWith('wasm'));
  await setUp({ native: presets.length > 1 || !wasm, wasm, bench: true });
  for (const preset of presets) buildPreset(preset, ['kernel_bench'], ['KVASIR_KERNEL_BENCH']);
  const results = presets.map(measure);
  console.log(`| | threads | ${presets.join(' | ')} |\n|---|---:|${'---:|'.repeat(presets.length)}`);
  console.log(`| sums | | ${results.map(({ sums }) => sums).join(' | ')} |`);
  for (const name of results[0].rates.keys()) {
    console.log(`| ${label(name)} | ${results.map(({ rates }) => cell(rates, name)).join(' | ')} |`);
  }
}

await orGiveUp(main);
