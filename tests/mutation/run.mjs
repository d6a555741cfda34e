// Breaks the caches and the attention on purpose, one mutant at a time, and shows that a named test notices each.
// Usage: npm run test:mutation [-- WORDS OF A NAME]
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { argv, exit } from 'node:process';
import { BUILD, ROOT } from '../../tools/setup/paths.mjs';
import { orGiveUp, setUp } from '../../tools/setup.mjs';
import { MUTANTS } from './mutants.mjs';

const TREE = join(BUILD, 'mutation/tree');
const FOLDER = join(BUILD, 'mutation/build');
const PROGRAMS = ['attention_test', 'kernels_test', 'runtime_test'];

await orGiveUp(() => setUp({ native: true }));
const words = argv.slice(2).join(' ');
const mutants = MUTANTS.filter(({ name }) => name.includes(words));
copyTree();
if (!build(PROGRAMS)) fail('the tree does not build');
for (const program of PROGRAMS) if (!passes(program, '*')) fail(`${program} fails without any mutant`);

let survivors = 0;
for (const mutant of mutants) {
  const verdict = judge(mutant);
  if (!verdict.caught) survivors += 1;
  console.log(`${verdict.caught ? 'caught  ' : 'SURVIVED'}  ${mutant.name}: ${verdict.by}`);
}
console.log(`\n${mutants.length - survivors} of ${mutants.length} mutants caught`);
exit(survivors > 0 || mutants.length === 0 ? 1 : 0);

function copyTree() {
  mkdirSync(TREE, { recursive: true });
  for (const name of ['CMakeLists.txt', 'cmake', 'src', 'tests/cpp', 'tests/bench', 'tests/golden', 'models']) {
    const target = join(TREE, name);
    cpSync(join(ROOT, name), target, { recursive: true, preserveTimestamps: true, force: true });
  }
  const toolchain = join(TREE, '.toolchain');
  if (!existsSync(toolchain)) symlinkSync(join(ROOT, '.toolchain'), toolchain);
  const flags = ['-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_FLAGS=-O1 -g0'];
  if (!runs('cmake', ['-S', TREE, '-B', FOLDER, ...flags])) fail('cmake failed');
}

// The one test program that a mutant needs is built and run, with the named tests only.
function judge({ file, find, replace, tests, runtime = false }) {
  const path = join(TREE, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) return { caught: false, by: `"${find}" does not stand once in ${file}` };
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    const program = runtime ? 'runtime_test' : file.startsWith('src/kernels') ? 'kernels_test' : 'attention_test';
    if (!build([program])) return { caught: false, by: 'it does not compile' };
    return passes(program, tests) ? { caught: false, by: tests } : { caught: true, by: tests };
  } finally {
    writeFileSync(path, text);
  }
}

function build(programs) {
  return runs('cmake', ['--build', FOLDER, '--parallel', String(availableParallelism()), '--target', ...programs]);
}

// A filter that matches nothing would pass for ever.
function passes(program, tests) {
  const args = [`--gtest_filter=${tests}`, '--gtest_brief=1'];
  const { status, stdout } = spawnSync(join(FOLDER, 'tests/cpp', program), args, { encoding: 'utf8' });
  if (/Running 0 tests|0 tests from/.test(stdout)) fail(`no test matches ${tests}`);
  return status === 0;
}

function runs(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) console.error(`${stdout}${stderr}`.split('\n').slice(-15).join('\n'));
  return status === 0;
}

function fail(message) {
  console.error(message);
  exit(1);
}
