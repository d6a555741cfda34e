// Puts the packed package into an empty project, as `npm install kvasir` would.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = fileURLToPath(new URL('../../web/package/', import.meta.url));

/** `project`: an empty folder. */
export function installPackage(project) {
  const packed = join(project, 'packed');
  mkdirSync(packed);
  npm(['pack', '--silent', '--pack-destination', packed], packageFolder);
  const [tarball] = readdirSync(packed);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--silent', join(packed, tarball)], project);
}

function npm(args, folder) {
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
