// Tells whether the package was built from the sources as they are now, without asking the builders.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILD, PACKAGE, ROOT } from '../setup/paths.mjs';

const INPUTS = [
  'CMakeLists.txt',
  'CMakePresets.json',
  'LICENSE',
  'cmake',
  'src',
  'wasm',
  'models/kvasir-stories.gguf',
  'package-lock.json',
  'web/package/build.mjs',
  'web/package/package.json',
  'web/package/src',
  'web/package/tsconfig.json',
  'tools/build.mjs',
];
const NOTE = join(BUILD, 'package.fingerprint');

export function isPackageBuilt() {
  try {
    statSync(join(PACKAGE, 'dist/cli.js'));
    return readFileSync(NOTE, 'utf8') === fingerprint();
  } catch {
    return false;
  }
}

/** To be taken before the build: what changes while it runs shall be built again. */
export function fingerprint() {
  const hash = createHash('sha256');
  for (const input of INPUTS) addTo(hash, input);
  return hash.digest('hex');
}

export function notePackageBuilt(fingerprintBefore) {
  mkdirSync(dirname(NOTE), { recursive: true });
  writeFileSync(NOTE, fingerprintBefore);
}

function addTo(hash, path) {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    for (const name of readdirSync(join(ROOT, path)).sort()) addTo(hash, `${path}/${name}`);
  } else {
    hash.update(`${path} ${stat?.size} ${stat?.mtimeMs}\n`);
  }
}
