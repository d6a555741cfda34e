// Programs that the builds and tests call, from this machine's own packages.
import { existsSync } from 'node:fs';
import { installPackages } from './apt.mjs';
import { findProgram, run } from './process.mjs';
import { SetupError } from './report.mjs';

const CLANG = '14'; // formats differ from version to version
const OLDEST_CMAKE = [3, 25];

export function installBuildTools({ native }) {
  const missing = [];
  if (!findProgram('cmake')) missing.push('cmake');
  if (!findProgram('ninja')) missing.push('ninja-build');
  if (native && !findProgram('c++')) missing.push('g++');
  if (missing.length > 0) installPackages(missing, 'a tool to build with');
  const version = /(\d+)\.(\d+)/
    .exec(run('cmake', ['--version']))
    .slice(1)
    .map(Number);
  const isOld = version[0] < OLDEST_CMAKE[0] || (version[0] === OLDEST_CMAKE[0] && version[1] < OLDEST_CMAKE[1]);
  if (isOld) throw new SetupError(`CMake ${version.join('.')} is too old: install ${OLDEST_CMAKE.join('.')} or newer`);
}

export function installLintTools() {
  const missing = ['clang-format', 'clang-tidy'].filter((name) => clangTool(name) === undefined);
  if (missing.length > 0)
    installPackages(
      missing.map((name) => `${name}-${CLANG}`),
      missing.join(' and '),
    );
}

/** The program of the version that the repository is formatted and linted with, or undefined. */
export function clangTool(name) {
  return [`${name}-${CLANG}`, name].find((candidate) => isClang14(candidate));
}

function isClang14(program) {
  return findProgram(program) !== undefined && run(program, ['--version']).includes(`version ${CLANG}.`);
}

const BROWSERS = {
  chromium: '/usr/bin/chromium',
  'firefox-esr': '/usr/bin/firefox-esr',
  'webkit2gtk-driver': '/usr/bin/WebKitWebDriver',
  xvfb: '/usr/bin/Xvfb',
  xauth: '/usr/bin/xauth',
};

export function installBrowsers() {
  const missing = Object.keys(BROWSERS).filter((name) => !existsSync(BROWSERS[name]));
  if (missing.length > 0) installPackages(missing, 'a browser to test in');
}
