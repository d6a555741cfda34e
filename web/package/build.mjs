// Builds the package: TypeScript to dist/, the WebAssembly builds of CMake to dist/wasm/, the embedded model to models/.
// With --partial, what is not there yet is left out.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = dirname(fileURLToPath(import.meta.url));
const root = join(packageFolder, '../..');
const dist = join(packageFolder, 'dist');
const partial = process.argv.includes('--partial');
const variants = { st: false, mt: true, relaxed: true, 'relaxed-st': false };

rmSync(dist, { recursive: true, force: true });
compileTypeScript();
for (const [variant, threaded] of Object.entries(variants)) copyVariant(variant, threaded);
copy(join(root, 'models/kvasir-stories.gguf'), join(packageFolder, 'models/kvasir-stories.gguf'));
copy(join(root, 'LICENSE'), join(packageFolder, 'LICENSE'));

function compileTypeScript() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);
  execFileSync(process.execPath, [tsc, '--project', packageFolder], { stdio: 'inherit' });
  chmodSync(join(dist, 'cli.js'), 0o755);
}

function copyVariant(variant, threaded) {
  const name = `kvasir-${variant}`;
  const from = join(root, 'build', `wasm-${variant}`, name);
  const to = join(dist, 'wasm', name);
  copy(`${from}.wasm`, `${to}.wasm`);
  if (!found(`${from}.mjs`)) return;
  const glue = readFileSync(`${from}.mjs`, 'utf8');
  // ".js", since some servers do not know that ".mjs" is JavaScript.
  writeFileSync(`${to}.js`, hideNode(threaded ? findsItself(glue, `${name}.mjs`) : glue));
}

// Bundlers rename the file, which they treat as an asset: its threads must load it by the address that it has, not by
// the name that it was built with.
function findsItself(glue, name) {
  const built = `new Worker(new URL("${name}",import.meta.url),`;
  if (glue.split(built).length !== 2) throw new Error(`${name} does not start its threads in the known way`);
  return glue.replace(built, 'new Worker(new URL(import.meta.url),');
}

// Only Node gets to the imports of its modules: Vite's dev server shall not look for them, and warn.
function hideNode(glue) {
  return glue.replaceAll(/import\("node:(\w+)"\)/g, 'import(/* @vite-ignore */"node:"+"$1")');
}

function copy(from, to) {
  if (!found(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function found(file) {
  if (existsSync(file)) return true;
  if (!partial) throw new Error(`${file} is missing: build it first (npm start builds all)`);
  console.warn(`left out: ${file}`);
  return false;
}
