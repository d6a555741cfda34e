// The sources of the libraries, into .toolchain/src: cmake/dependencies.cmake finds them there.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDebian, withReleases } from './apt.mjs';
import { installFolder, isForeign, isInstalled } from './install-folder.mjs';
import { TOOLCHAIN } from './paths.mjs';
import { run } from './process.mjs';
import { SetupError, say } from './report.mjs';

// `hashes`: SHA-256 of the upstream release and, where it differs, of the archive that Debian made of it.
// `debianVersion`: Debian's name of the version, where it has taken files out of the release.
// `part`: the part of the set-up that it belongs to, where not every part needs it.
const LIBRARIES = [
  {
    name: 'highway',
    version: '1.2.0',
    url: 'https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz',
    debian: 'trixie',
    hashes: ['7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343'],
  },
  {
    name: 'sentencepiece',
    version: '0.1.97',
    url: 'https://github.com/google/sentencepiece/archive/refs/tags/v0.1.97.tar.gz',
    debian: 'bookworm',
    hashes: [
      '41c3a07f315e3ac87605460c8bb8d739955bc8e7f478caec4017ef9b7d78669b',
      '56430381f45dc6debfd2e0cbde4f039f9499c49ca825af184b0cbf318c17a18f',
    ],
  },
  {
    name: 'pcre2',
    version: '10.42',
    url: 'https://github.com/PCRE2Project/pcre2/releases/download/pcre2-10.42/pcre2-10.42.tar.gz',
    debian: 'bookworm',
    hashes: ['c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f'],
  },
  {
    name: 'yyjson',
    version: '0.10.0',
    url: 'https://github.com/ibireme/yyjson/archive/refs/tags/0.10.0.tar.gz',
    debian: 'trixie',
    debianVersion: '0.10.0+ds',
    hashes: [
      '0d901cb2c45c5586e3f3a4245e58c2252d6b24bf4b402723f6179523d389b165',
      'ae6fde69a193e10afab426ef13f113d6903446405f9db9ee98bfb572bd6c961a',
    ],
  },
  {
    name: 'googletest',
    version: '1.12.1',
    url: 'https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz',
    debian: 'bookworm',
    hashes: ['81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2'],
  },
  {
    name: 'benchmark',
    part: 'bench',
    version: '1.7.1',
    url: 'https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz',
    debian: 'bookworm',
    hashes: ['6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7'],
  },
];

const ANSWER_MS = 5_000;
const DOWNLOAD_MS = 120_000;

/** `wanted`: which parts of the set-up, by name. */
export async function installSources(wanted) {
  const missing = LIBRARIES.filter(({ part }) => part === undefined || wanted[part]).filter(
    (library) => !isThere(library),
  );
  const archives = new Map();
  for (const library of missing) archives.set(library, await fromUpstream(library));
  const rest = missing.filter((library) => archives.get(library) === undefined);
  if (rest.length > 0) for (const [library, bytes] of fromDebian(rest)) archives.set(library, bytes);
  for (const [library, bytes] of archives) await unpack(library, bytes);
}

function isThere(library) {
  return isInstalled(folderOf(library), recipe(library)) || isForeign(folderOf(library));
}

function folderOf({ name }) {
  return join(TOOLCHAIN, 'src', name);
}

function recipe({ name, version }) {
  return `${name} ${version}`;
}

/** The archive's bytes, or undefined where the host does not answer. */
async function fromUpstream(library) {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), ANSWER_MS);
  try {
    const response = await fetch(library.url, { signal: abort.signal });
    if (!response.ok) return undefined;
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), DOWNLOAD_MS);
    const bytes = Buffer.from(await response.arrayBuffer());
    say(`downloaded the sources of ${recipe(library)}`);
    return checked(library, bytes);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function fromDebian(libraries) {
  const names = libraries.map(recipe).join(', ');
  const manual = libraries.map(({ name, url }) => `  ${url} as .toolchain/src/${name}`).join('\n');
  const manually = `; run this again with a network, or unpack them by hand:\n${manual}`;
  if (!isDebian()) throw new SetupError(`the sources of ${names} cannot be downloaded${manually}`);
  say(`upstream does not answer: taking the sources of ${names} from Debian`);
  try {
    return withReleases('deb-src', [...new Set(libraries.map(({ debian }) => debian))], (apt) =>
      libraries.map((library) => [library, fetchDebianSource(apt, library)]),
    );
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `the sources of ${names} can be had neither from upstream nor from Debian${manually}\n${error.message}`,
    );
  }
}

function fetchDebianSource(apt, library) {
  const { name, debianVersion: version = library.version } = library;
  const versions = [...apt.cache('showsrc', name).matchAll(/^Version: (\S+)$/gm)].map((match) => match[1]);
  const found = versions.find((candidate) => candidate.startsWith(`${version}-`));
  if (found === undefined) throw new Error(`Debian's mirror has no source of ${name} ${version}`);
  apt.get('--download-only', '--tar-only', 'source', `${name}=${found}`);
  const file = readdirSync(apt.files).find((entry) => entry.startsWith(`${name}_${version}.orig.tar.`));
  return checked(library, readFileSync(join(apt.files, file)));
}

function checked(library, bytes) {
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (library.hashes.includes(hash)) return bytes;
  throw new SetupError(`the archive of ${recipe(library)} is not the expected one: its SHA-256 is ${hash}`);
}

async function unpack(library, bytes) {
  await installFolder(folderOf(library), recipe(library), (folder) => {
    const archive = join(folder, '.archive');
    writeFileSync(archive, bytes);
    run('tar', ['-xf', archive, '-C', folder, '--strip-components=1', '--no-same-owner']);
    run('rm', [archive]);
  });
}
