// The npm packages that package-lock.json names.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './process.mjs';
import { SetupError, say } from './report.mjs';

export function installNpmPackages() {
  if (areInstalled()) return;
  say('installing npm packages');
  try {
    run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: ROOT });
  } catch (error) {
    throw new SetupError(
      `the npm packages of package-lock.json are missing: run "npm ci" with a network\n${error.message}`,
    );
  }
}

/** npm notes what it installed, as its last act, in the form of the lock file. */
function areInstalled() {
  const note = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(note)) return false;
  const installed = packagesOf(note);
  return Object.entries(packagesOf(join(ROOT, 'package-lock.json'))).every(
    ([path, { version, link, optional }]) =>
      link || optional || !path.includes('node_modules/') || installed[path]?.version === version,
  );
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}
