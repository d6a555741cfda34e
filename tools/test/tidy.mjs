// clang-tidy over the C++ sources, on all cores; a source that passed is not looked at again until something changes
// that it may depend on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { BUILD, ROOT } from '../setup/paths.mjs';
import { clangTool } from '../setup/machine-tools.mjs';

const PASSED = join(BUILD, 'lint/tidy');

/** `buildFolder`: a configured one, for how the sources are compiled. */
export async function tidy(buildFolder) {
  mkdirSync(PASSED, { recursive: true });
  const program = clangTool('clang-tidy');
  const common = hashOf([program, readFileSync(join(ROOT, '.clang-tidy')), ...headers()]);
  const commands = JSON.parse(readFileSync(join(buildFolder, 'compile_commands.json'), 'utf8'));
  const queue = commands
    .filter(({ file }) => file.startsWith(join(ROOT, 'src/')) && existsSync(file))
    .map(({ file, command }) => ({ file, note: join(PASSED, hashOf([common, command, readFileSync(file)])) }))
    .filter(({ note }) => !existsSync(note));
  let passed = true;
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { status, output } = await runTidy(program, buildFolder, next.file);
      if (status === 0) writeFileSync(next.note, '');
      else console.error(`${relative(ROOT, next.file)}:\n${output}`);
      passed &&= status === 0;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return passed;
}

function headers() {
  return readdirSync(join(ROOT, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.name.endsWith('.h'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => readFileSync(file));
}

function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

function runTidy(program, buildFolder, file) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['--quiet', '-p', buildFolder, file], { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
