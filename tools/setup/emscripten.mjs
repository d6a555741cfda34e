// Emscripten: the one of the PATH where it is new enough, else one of our own in .toolchain/emscripten.
//
// The own one is made of the packages of a newer Debian. They are unpacked beside their own C library, and the native
// tools among them are pointed at it, so that nothing of this system changes. Python and Node.js are the system's.
import { cpSync, lstatSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { installPackages, isDebian, withReleases } from './apt.mjs';
import { installFolder, isInstalled } from './install-folder.mjs';
import { TOOLCHAIN } from './paths.mjs';
import { findProgram, run } from './process.mjs';
import { SetupError, say } from './report.mjs';

const FOLDER = join(TOOLCHAIN, 'emscripten');
const RECIPE = `emscripten 6, recipe 2, for ${FOLDER}`; // its programs find each other by their full paths
const RELEASES = ['forky', 'sid'];
const OLDEST = [4, 0, 10]; // older ones make thread workers that bundlers cannot find
const MANUAL = `install Emscripten ${OLDEST.join('.')} or newer (https://emscripten.org/docs/getting_started) and put emcc on the PATH`;

// What the compiler needs when it runs, of all that a fresh system would get with it.
const NEEDED = /^(emscripten_|binaryen_|clang-\d|lld-\d|llvm-\d|lib|zlib1g_|node-acorn_)/;
const LLVM_TOOLS = 'clang lld llvm-ar llvm-nm llvm-objcopy llvm-dwp llvm-readobj llvm-dwarfdump'.split(' ');

export async function installEmscripten() {
  if (isInstalled(FOLDER, RECIPE) || pathHasEmscripten()) return;
  if (!isDebian()) throw new SetupError(`Emscripten is missing: ${MANUAL}`);
  if (!findProgram('patchelf')) installPackages(['patchelf'], 'patchelf, which the installation of Emscripten needs,');
  if (!findProgram('python3')) installPackages(['python3'], 'python3, which Emscripten runs in,');
  say('installing Emscripten into .toolchain/emscripten (half a minute)');
  try {
    await installFolder(FOLDER, RECIPE, assemble, check);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(`Emscripten could not be installed from Debian's mirror: ${error.message}\nOr ${MANUAL}`);
  }
}

function pathHasEmscripten() {
  return findProgram('emcc') !== undefined && isNewEnough(run('emcc', ['--version']));
}

function isNewEnough(versionText) {
  const version = /(\d+)\.(\d+)\.(\d+)/.exec(versionText)?.slice(1).map(Number) ?? [0, 0, 0];
  const difference = version.map((part, i) => part - OLDEST[i]).find((part) => part !== 0) ?? 0;
  return difference >= 0;
}

function assemble(folder) {
  unpackFirstRelease(folder);
  const libraries = join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
  const loader = readdirSync(libraries).find((name) => name.startsWith('ld-linux-'));
  const llvm = readdirSync(join(folder, 'usr/lib')).find((name) => name.startsWith('llvm-'));
  const at = (file) => join(FOLDER, relative(folder, file)); // where it will be when all is done
  const patch = (file, ...args) => run('patchelf', ['--set-rpath', ...args, file]);
  const interpreter = ['--set-interpreter', at(join(libraries, loader))];

  // Libraries too, since a search path is not handed down from the program.
  for (const name of readdirSync(libraries)) {
    const file = join(libraries, name);
    const isOther = name.includes('.so') && !/^(ld-linux|libc\.so)/.test(name) && !lstatSync(file).isSymbolicLink();
    if (isOther && isElf(file)) patch(file, at(libraries));
  }
  const llvmFolder = join(folder, 'usr/lib', llvm);
  for (const tool of LLVM_TOOLS) {
    const file = realpathSync(join(llvmFolder, 'bin', tool));
    patch(file, `${at(libraries)}:${at(join(llvmFolder, 'lib'))}`, ...interpreter);
  }
  for (const name of readdirSync(join(folder, 'usr/bin')).filter((entry) => entry.startsWith('wasm-'))) {
    const file = realpathSync(join(folder, 'usr/bin', name));
    if (isElf(file)) patch(file, at(libraries), ...interpreter);
  }
  // Node.js looks for acorn beside the real place of what asks for it.
  const root = join(folder, 'usr/share/emscripten');
  rmSync(join(root, 'node_modules'), { recursive: true, force: true });
  cpSync(join(folder, 'usr/share/nodejs'), join(root, 'node_modules'), { recursive: true });
  // Or its scripts would be taken for modules, as this repository's package.json says.
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(
    join(root, '.emscripten'),
    `LLVM_ROOT = '${at(join(llvmFolder, 'bin'))}'
BINARYEN_ROOT = '${at(join(folder, 'usr'))}'
NODE_JS = '${process.execPath}'
CACHE = '${at(join(folder, 'cache'))}'
`,
  );
}

function unpackFirstRelease(folder) {
  const failures = [];
  for (const release of RELEASES) {
    try {
      withReleases('deb', [release], (apt) => {
        apt.get('--no-install-recommends', '--download-only', '-y', 'install', 'emscripten');
        for (const file of readdirSync(apt.archives).filter((name) => NEEDED.test(name))) {
          run('dpkg-deb', ['-x', join(apt.archives, file), folder]);
        }
      });
      return;
    } catch (error) {
      failures.push(`${release}: ${error.message}`);
    }
  }
  throw new Error(failures.join('\n'));
}

function isElf(file) {
  return lstatSync(file).isFile() && readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF';
}

function check(folder) {
  const version = run(join(folder, 'usr/share/emscripten/emcc'), ['--version']);
  if (!isNewEnough(version)) throw new Error(`Debian's Emscripten is too old: ${version.split('\n')[0]}`);
}
