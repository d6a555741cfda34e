// Checks that data flows one way: each layer includes only the layers that docs/design.md lets it know.
// Usage: node tools/check-layers.mjs [ROOT]
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { ROOT } from './setup/paths.mjs';

const MAY_INCLUDE = {
  base: [],
  simd: ['base'],
  kernels: ['base', 'simd'],
  attention: ['base', 'simd', 'kernels'],
  format: ['base'],
  tokenizer: ['base'],
  sampling: ['base'],
  model: ['base', 'format', 'kernels', 'attention'],
  runtime: ['base', 'format', 'model', 'tokenizer', 'sampling', 'attention'],
  wasm: ['base', 'runtime'],
};

// Headers from outside, and the only layers that may include them.
const OUTSIDE = [
  { header: /^hwy\//, layers: ['simd'] },
  { header: /^(wasm_simd128|immintrin|arm_neon)\.h$/, layers: ['simd'] },
  { header: /^(sentencepiece|pcre2)/, layers: ['tokenizer'] },
  { header: /^yyjson/, layers: ['base'] },
  { header: /^emscripten(\/|\.h)/, layers: ['wasm'] },
];

const root = resolve(argv[2] ?? ROOT);
const complaints = [];
let files = 0;

for (const layer of Object.keys(MAY_INCLUDE)) {
  const folder = layer === 'wasm' ? 'wasm' : `src/${layer}`;
  for (const file of filesBelow(folder, /\.(cc|h)$/)) checkIncludes(layer, file);
}
for (const name of readdirSync(join(root, 'src'))) {
  if (!(name in MAY_INCLUDE)) complaints.push(`src/${name} is no layer`);
}
for (const file of filesBelow('web/package/src', /\.ts$/)) checkImports(file);

for (const complaint of complaints) console.error(complaint);
console.log(`${files} files, ${complaints.length} forbidden edges`);
exit(complaints.length > 0 || files === 0 ? 1 : 0);

function checkIncludes(layer, file) {
  files += 1;
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  lines.forEach((line, i) => {
    const [, quote, header] = /^\s*#\s*include\s*([<"])([^>"]+)[>"]/.exec(line) ?? [];
    const isOurs = quote === '"' && !OUTSIDE.some((entry) => entry.header.test(header));
    const complaint =
      header &&
      ((isOurs && complaintAboutPath(header)) ||
        (complaintAboutLayer(layer, header) ?? complaintAboutAttention(file, header)));
    if (complaint) complaints.push(`${file}:${i + 1}: ${complaint}`);
  });
}

function complaintAboutPath(header) {
  return header.split('/')[0] in MAY_INCLUDE ? undefined : `name ${header} by its path from src`;
}

function complaintAboutLayer(layer, header) {
  const [target] = header.split('/');
  if (header.includes('/') && target in MAY_INCLUDE) {
    return target === layer || MAY_INCLUDE[layer].includes(target) ? undefined : `${layer} may not include ${header}`;
  }
  const outside = OUTSIDE.find((entry) => entry.header.test(header));
  return outside && !outside.layers.includes(layer)
    ? `only ${outside.layers.join(', ')} may include ${header}`
    : undefined;
}

/** The KV cache and SDPA share view types, and nothing else. */
function complaintAboutAttention(file, header) {
  const fromSdpa = /^src\/attention\/sdpa/.test(file) && /^attention\/.*cache/.test(header);
  const fromCache = /^src\/attention\/.*cache/.test(file) && /^attention\/sdpa/.test(header);
  return fromSdpa || fromCache ? `KV caches and SDPA do not know each other: ${header}` : undefined;
}

/** The package's sources import one another, Node's own modules and the package's dependencies. */
function checkImports(file) {
  files += 1;
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(root, 'web/package/package.json'), 'utf8'),
  );
  const known = { ...dependencies, ...peerDependencies };
  const text = readFileSync(join(root, file), 'utf8');
  for (const match of text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    const name = match[1];
    const isInside = !relative('web/package/src', join(dirname(file), name)).startsWith('..');
    const [scopeOrName, rest] = name.split('/');
    const packageName = name.startsWith('@') ? `${scopeOrName}/${rest}` : scopeOrName;
    const isAllowed = name.startsWith('.')
      ? isInside
      : name.startsWith('node:') || builtinModules.includes(name) || packageName in known;
    if (!isAllowed) complaints.push(`${file}: may not import ${name}`);
  }
}

function filesBelow(folder, pattern) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => join(relative(root, entry.parentPath ?? entry.path), entry.name));
}
