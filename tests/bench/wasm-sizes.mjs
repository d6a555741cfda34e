// What a page downloads before the model: the WebAssembly files, as they are and gzipped.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PACKAGE } from '../../tools/setup/paths.mjs';
import { installWllama, RELEASES } from './systems/wllama.mjs';

export function wasmSizes({ systems, variants, wllama }) {
  const kvasir = variants.map((variant) => [`Kvasir ${variant}`, join(PACKAGE, `dist/wasm/kvasir-${variant}.wasm`)]);
  const peers = systems.includes('wllama') ? wllama.flatMap(filesOf) : [];
  return [...kvasir, ...peers].map(([name, file]) => {
    const bytes = readFileSync(file);
    return { name, bytes: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
  });
}

function filesOf(release) {
  try {
    const folder = installWllama(release);
    return RELEASES[release].wasm.map((file) => [`wllama ${release} ${file.replace('esm/', '')}`, join(folder, file)]);
  } catch {
    return []; // It was said already that it is not there.
  }
}
