// Builds the WebAssembly variants and the npm package, after setting up what that takes.
// Usage: node tools/build.mjs
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildPreset } from './build/cmake.mjs';
import { fingerprint, isPackageBuilt, notePackageBuilt } from './build/fingerprint.mjs';
import { orGiveUp, setUp } from './setup.mjs';
import { BUILD, PACKAGE } from './setup/paths.mjs';
import { BuildError } from './setup/report.mjs';

export const VARIANTS = ['st', 'mt', 'relaxed', 'relaxed-st'];

/** All that is said goes to stderr. */
export async function buildPackage() {
  const before = fingerprint();
  await setUp({ wasm: true });
  for (const variant of VARIANTS) {
    buildPreset(`wasm-${variant}`, [`kvasir-${variant}`]);
    const wasm = join(BUILD, `wasm-${variant}`, `kvasir-${variant}.wasm`);
    process.stderr.write(`kvasir-${variant}.wasm: ${sizes(wasm)}\n`);
  }
  const stdio = ['ignore', process.stderr, process.stderr];
  const { status } = spawnSync(process.execPath, [join(PACKAGE, 'build.mjs')], { stdio });
  if (status !== 0) throw new BuildError('the npm package could not be built');
  notePackageBuilt(before);
}

export async function buildPackageIfNeeded() {
  if (!isPackageBuilt()) await buildPackage();
}

function sizes(file) {
  const bytes = readFileSync(file);
  return `${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`;
}

if (import.meta.url === pathToFileURL(argv[1]).href) await orGiveUp(buildPackage);
