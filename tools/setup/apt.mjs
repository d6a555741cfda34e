// Debian's packages: those of this machine, and single files of other releases from the mirror that this machine uses.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError, say } from './report.mjs';
import { findProgram, run } from './process.mjs';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list';
const SOURCES_FOLDER = '/etc/apt/sources.list.d';

let listsAreFresh = false;

export function isDebian() {
  return (
    existsSync(KEYRING) && /^ID=debian$/m.test(readIfThere('/etc/os-release')) && findProgram('apt-get') !== undefined
  );
}

/** Installs packages of this machine's own Debian, which takes root. `wanted` says what they are needed for. */
export function installPackages(packages, wanted) {
  const manual = `install ${packages.join(' ')} (Debian: apt-get install ${packages.join(' ')})`;
  if (!isDebian()) throw new SetupError(`${wanted} is missing: ${manual}`);
  if (process.getuid() !== 0) throw new SetupError(`${wanted} is missing, and only root can install it: ${manual}`);
  say(`installing the Debian packages ${packages.join(', ')}`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    if (!listsAreFresh) run('apt-get', ['-qq', 'update'], { env: environment });
    listsAreFresh = true;
    run('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', ...packages], { env: environment });
  } catch (error) {
    throw new SetupError(`${wanted} is missing, and apt-get could not install it: ${manual}\n${error.message}`);
  }
}

/**
 * Calls `use` with an apt of its own that knows only the given releases, touches nothing of the system, and takes the
 * machine to have no package at all. `kind` is deb or deb-src.
 */
export function withReleases(kind, releases, use) {
  const work = mkdtempSync(join(tmpdir(), 'kvasir-apt-'));
  try {
    const place = (name) => {
      mkdirSync(join(work, name), { recursive: true });
      return join(work, name);
    };
    place('lists/partial');
    place('cache/archives/partial');
    const mirror = debianMirror();
    const entries = releases.map((release) => `${kind} [signed-by=${KEYRING}] ${mirror} ${release} main\n`);
    writeFileSync(join(work, 'sources.list'), entries.join(''));
    writeFileSync(join(work, 'status'), '');
    const settings = {
      'Dir::Etc::sourcelist': join(work, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State::Lists': join(work, 'lists'),
      'Dir::State::status': join(work, 'status'),
      'Dir::Cache': join(work, 'cache'),
      'APT::Sandbox::User': 'root',
      'Debug::NoLocking': '1',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const call =
      (program) =>
      (...args) =>
        run(program, [...options, '-qq', ...args], { cwd: place('files') });
    const apt = {
      get: call('apt-get'),
      cache: call('apt-cache'),
      files: place('files'),
      archives: join(work, 'cache/archives'),
    };
    apt.get('update');
    return use(apt);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The address of the main archive in apt's settings, in either of their two formats; security archives do not count. */
function debianMirror() {
  const lists = readdirSync(SOURCES_FOLDER).map((name) => join(SOURCES_FOLDER, name));
  const text = [SOURCES, ...lists]
    .filter((file) => /\.(list|sources)$/.test(file))
    .map(readIfThere)
    .join('\n\n');
  const addresses = [...text.matchAll(/^(?:deb(?:-src)?\s+(?:\[[^\]]*\]\s*)?|URIs:\s*)(\S+)/gm)].map(
    (match) => match[1],
  );
  const mirror = addresses.find((address) => /\/debian\/?$/.test(address));
  if (mirror === undefined) throw new SetupError(`apt knows no Debian mirror: add one to ${SOURCES}`);
  return mirror;
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
