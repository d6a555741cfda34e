// Formats and lints. A check gives true where it has nothing to say.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { configurePreset } from '../build/cmake.mjs';
import { clangTool } from '../setup/machine-tools.mjs';
import { BUILD, ROOT } from '../setup/paths.mjs';
import { run } from '../setup/process.mjs';
import { tidy } from './tidy.mjs';

export const checks = {
  'clang-format': () => clangFormat(['--dry-run', '-Werror']),
  prettier: () => bin('prettier', ['--check', '--log-level=warn', '.']),
  eslint: () => bin('eslint', ['--cache', '--cache-location', join(BUILD, 'lint/eslint'), '.']),
  'types of the package': () => bin('tsc', ['--noEmit', '--project', 'web/package']),
  'clang-tidy': () => tidy(configurePreset('native')),
};

/** Rewrites what the format checks complain about. */
export function format() {
  return clangFormat(['-i']) && bin('prettier', ['--write', '--log-level=warn', '.']);
}

function clangFormat(options) {
  const listed = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.cc', '*.h'], { cwd: ROOT });
  return succeeds(clangTool('clang-format'), [...options, ...listed.trim().split('\n')]);
}

function bin(name, args) {
  return succeeds(join(ROOT, 'node_modules/.bin', name), args);
}

function succeeds(command, args) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' }).status === 0;
}
