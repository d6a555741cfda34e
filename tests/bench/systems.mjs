// Kvasir beside native llama.cpp on one model of a real shape, in one run: a Markdown table, or JSON.
// Usage: npm run bench [-- OPTIONS]; see --help. What has a peer is measured in turns, and the best of each counts.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { argv, execPath } from 'node:process';
import { parseArgs } from 'node:util';
import { buildPackageIfNeeded } from '../../tools/build.mjs';
import { BUILD, PACKAGE } from '../../tools/setup/paths.mjs';
import { orGiveUp } from '../../tools/setup.mjs';
import { SHAPES, writeRandomModel } from './random-model.mjs';

const HELP = `Usage: npm run bench -- [OPTIONS]

  --shapes LIST    ${Object.keys(SHAPES).join(', ')} (default smollm2-135m)
  --mixes LIST     Q4_0, Q8_0, Q4_K_M, F16, F32 (default Q4_0,Q8_0,Q4_K_M)
  --prefill N      (default 128)   --decode N  (default 64)   --depth N  (default 0)
  --threads LIST   (default 1,2)   --kv TYPE   f16 or i8 (default f16)
  --variants LIST  (default relaxed,mt)
  --node LIST      programs that run Kvasir (default: this Node)
  --rounds N       turns that each system has (default 3)
  --json           print JSON

Native llama.cpp takes part when llama-bench is on the PATH, or $LLAMA_BENCH names it.`;

const list = (text) => text.split(',');
const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    shapes: { type: 'string', default: 'smollm2-135m' },
    mixes: { type: 'string', default: 'Q4_0,Q8_0,Q4_K_M' },
    prefill: { type: 'string', default: '128' },
    decode: { type: 'string', default: '64' },
    depth: { type: 'string', default: '0' },
    threads: { type: 'string', default: '1,2' },
    kv: { type: 'string', default: 'f16' },
    variants: { type: 'string', default: 'relaxed,mt' },
    node: { type: 'string', default: execPath },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
/** A system: { name, measure(file, threads) } -> { prefill, decode } in tokens a second. */
function kvasirIn(node, variant) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const cli = join(PACKAGE, 'dist/cli.js');
  return {
    name: `Kvasir ${variant}, Node ${version.slice(1).split('.')[0]}`,
    measure(file, threads) {
      const { prefill, decode, depth, kv } = values;
      const tests = ['--prefill', prefill, '--decode', decode, '--depth', depth, '--kv', kv];
      const args = [
        cli,
        'bench',
        '-m',
        file,
        '--variant',
        variant,
        '--threads',
        threads,
        ...tests,
        '-r',
        '2',
        '--json',
      ];
      const rows = JSON.parse(execFileSync(node, args, { encoding: 'utf8' }));
      const rate = (test) => rows.find((row) => row.test === test)?.tokensPerSecond;
      return { prefill: rate('prefill'), decode: rate('decode') };
    },
  };
}

function nativeLlama() {
  const program = process.env.LLAMA_BENCH ?? 'llama-bench';
  if (spawnSync(program, ['--help'], { stdio: 'ignore' }).status !== 0) return [];
  const type = values.kv === 'i8' ? 'q8_0' : values.kv;
  const cache = type === 'q8_0' ? ['-fa', '1', '-ctk', type, '-ctv', type] : ['-ctk', type, '-ctv', type];
  return [
    {
      name: 'llama.cpp, native',
      measure(file, threads) {
        const tests = ['-p', values.prefill, '-n', values.decode, '-d', values.depth, '-r', '2', '-t', threads];
        const output = execFileSync(program, ['-m', file, ...tests, ...cache, '-o', 'json'], { encoding: 'utf8' });
        const rows = JSON.parse(output.slice(output.indexOf('[')));
        const rate = (key) => Math.max(...(rows.find((row) => row[key] > 0)?.samples_ts ?? [NaN]));
        return { prefill: rate('n_prompt'), decode: rate('n_gen') };
      },
    },
  ];
}

async function main() {
  await buildPackageIfNeeded();
  const folder = join(BUILD, 'bench');
  mkdirSync(folder, { recursive: true });
  const systems = [
    ...list(values.node).flatMap((node) => list(values.variants).map((variant) => kvasirIn(node, variant))),
    ...nativeLlama(),
  ];
  const rows = [];
  for (const shape of list(values.shapes)) {
    for (const mix of list(values.mixes)) {
      const file = join(folder, `${shape}-${mix}.gguf`);
      if (!existsSync(file)) writeRandomModel(shape, mix, file);
      for (const threads of list(values.threads)) rows.push(...measure({ shape, mix, threads, file }, systems));
    }
  }
  if (values.json) console.log(JSON.stringify({ machine: machine(), options: values, rows }, null, 2));
  else printTable(rows);
}

function measure({ shape, mix, threads, file }, systems) {
  const rows = systems.map(({ name }) => ({
    shape,
    mix,
    threads: Number(threads),
    system: name,
    prefill: 0,
    decode: 0,
  }));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [i, system] of systems.entries()) {
      process.stderr.write(`${shape} ${mix}, ${threads} threads: ${system.name}, round ${round + 1}\n`);
      const { prefill, decode } = system.measure(file, threads);
      rows[i].prefill = Math.max(rows[i].prefill, prefill);
      rows[i].decode = Math.max(rows[i].decode, decode);
    }
  }
  const peer = rows.at(-1);
  for (const row of rows) {
    if (peer.system.startsWith('Kvasir')) break;
    row.prefillRatio = row.prefill / peer.prefill;
    row.decodeRatio = row.decode / peer.decode;
  }
  return rows;
}

function machine() {
  return `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
}

function printTable(rows) {
  const { prefill, decode, depth, kv } = values;
  console.log(
    `${machine()}; prefill ${prefill}, decode ${decode}, depth ${depth}, KV cache ${kv}; tokens/s, best of ${values.rounds} turns\n`,
  );
  console.log('| model | threads | system | prefill | ratio | decode | ratio |\n|---|---:|---|---:|---:|---:|---:|');
  const ratio = (value) => (value === undefined ? '' : value.toFixed(2));
  for (const row of rows) {
    const rates = [row.prefill.toFixed(1), ratio(row.prefillRatio), row.decode.toFixed(1), ratio(row.decodeRatio)];
    console.log(`| ${row.shape} ${row.mix} | ${row.threads} | ${row.system} | ${rates.join(' | ')} |`);
  }
}

if (values.help) console.log(HELP);
else await orGiveUp(main);
