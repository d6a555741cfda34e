// Configures presets where that was not done yet, and builds targets of them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { BUILD, ROOT } from '../setup/paths.mjs';
import { BuildError } from '../setup/report.mjs';

/** Gives the build folder. */
export function configurePreset(preset) {
  const folder = join(BUILD, preset);
  if (!isConfigured(folder)) {
    rmSync(folder, { recursive: true, force: true });
    cmake(['--preset', preset]);
  }
  return folder;
}

/**
 * No target: all of them. `options` of the project are turned on first, and stay so in this folder. The builder's
 * output goes to stderr. Throws where it fails.
 */
export function buildPreset(preset, targets = [], options = []) {
  const folder = configurePreset(preset);
  const cache = readFileSync(join(folder, 'CMakeCache.txt'), 'utf8');
  const missing = options.filter((option) => !cache.includes(`${option}:BOOL=ON\n`));
  if (missing.length > 0) cmake(['--preset', preset, ...missing.map((option) => `-D${option}=ON`)]);
  const only = targets.length > 0 ? ['--target', ...targets] : [];
  cmake(['--build', folder, '--parallel', String(availableParallelism()), ...only]);
}

/** To its end, and for this place: a build folder does not survive that the repository is moved. */
function isConfigured(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  if (!existsSync(cache) || !existsSync(join(folder, 'build.ninja'))) return false;
  return readFileSync(cache, 'utf8').includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${ROOT}\n`);
}

function cmake(args) {
  const { status, error } = spawnSync('cmake', args, { cwd: ROOT, stdio: ['ignore', process.stderr, process.stderr] });
  if (error) throw error;
  if (status !== 0) throw new BuildError(`cmake ${args.join(' ')} failed`);
}
