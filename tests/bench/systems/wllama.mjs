// wllama in headless Chromium. Its releases are installed on demand into build/peers: the project does not depend on it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD } from '../../../tools/setup/paths.mjs';
import { measureInPage } from '../page/browser.mjs';

const PEERS = join(BUILD, 'peers');

/** The releases that are compared: the last of each API, with the builds that each has. */
export const RELEASES = {
  '2.3.7': {
    page: '/bench/page/wllama-2.mjs',
    wasm: ['esm/single-thread/wllama.wasm', 'esm/multi-thread/wllama.wasm'],
  },
  '3.13.0': { page: '/bench/page/wllama-3.mjs', wasm: ['esm/wasm/wllama.wasm'] },
};

/** The folder of a release, installed. */
export function installWllama(release) {
  const home = join(PEERS, release);
  const folder = join(home, 'node_modules/@wllama/wllama');
  if (!existsSync(join(folder, RELEASES[release].wasm[0]))) {
    mkdirSync(home, { recursive: true });
    const wanted = `@wllama/wllama@${release}`;
    process.stderr.write(`installing ${wanted} into ${home}\n`);
    const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status, stderr } = spawnSync('npm', ['install', '--prefix', home, ...options, wanted], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm could not install ${wanted}: ${stderr?.trim().split('\n')[0] ?? 'no npm'}`);
  }
  return folder;
}

export function wllama(release, { name, version }) {
  installWllama(release);
  const base = `/peers/${release}/node_modules/@wllama/wllama/esm/`;
  return {
    name: `wllama ${release}, ${version}`,
    kind: 'wllama',
    measure: (file, plan) => measureInPage(name, file, RELEASES[release].page, { base, plan }),
  };
}
