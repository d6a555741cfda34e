// Installs what is missing on this machine, and says what it does: nothing where all is there.
// Usage: node tools/setup.mjs [--native] [--wasm] [--lint] [--browsers] [--bench]    (default: --native --wasm)
import { argv, exit } from 'node:process';
import { pathToFileURL } from 'node:url';
import { installEmscripten } from './setup/emscripten.mjs';
import { installBrowsers, installBuildTools, installLintTools } from './setup/machine-tools.mjs';
import { installNpmPackages } from './setup/npm-packages.mjs';
import { BuildError, SetupError, say } from './setup/report.mjs';
import { installSources } from './setup/sources.mjs';

const PARTS = ['native', 'wasm', 'lint', 'browsers', 'bench'];

/** `wanted`: which parts, by name; npm packages and the libraries' sources come with each. */
export async function setUp(wanted) {
  installNpmPackages();
  installBuildTools(wanted);
  await installSources(wanted);
  if (wanted.wasm) await installEmscripten();
  if (wanted.lint) installLintTools();
  if (wanted.browsers) installBrowsers();
}

/** Runs `main`, and ends the program with a message and status 1 where the set-up or a build cannot go on. */
export async function orGiveUp(main) {
  try {
    return await main();
  } catch (error) {
    if (error instanceof SetupError) say(error.message);
    else if (error instanceof BuildError) console.error(error.message);
    else throw error;
    return exit(1);
  }
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const names = argv.slice(2).map((arg) => arg.replace(/^--/, ''));
  const unknown = names.find((name) => !PARTS.includes(name));
  if (unknown !== undefined) {
    console.error(`Usage: node tools/setup.mjs ${PARTS.map((name) => `[--${name}]`).join(' ')}`);
    exit(2);
  }
  const wanted = names.length > 0 ? names : ['native', 'wasm'];
  await orGiveUp(() => setUp(Object.fromEntries(wanted.map((name) => [name, true]))));
}
