// Folders that are there as a whole or not at all.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const STAMP = '.kvasir-stamp';

/** Whether the folder was installed to its end, as `recipe` says. */
export function isInstalled(folder, recipe) {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === `${recipe}\n`;
}

/** Whether somebody else put the folder there. */
export function isForeign(folder) {
  return existsSync(folder) && !existsSync(join(folder, STAMP));
}

/**
 * Fills a temporary folder beside `folder`, and puts it in the place of what was there; it counts as installed when
 * `check`, if there is one, found it good in its place.
 */
export async function installFolder(folder, recipe, fill, check) {
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(join(dirname(folder), `.${basename(folder)}-`));
  chmodSync(temporary, 0o755);
  try {
    await fill(temporary);
    if (!check) writeStamp(temporary, recipe);
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
    if (!check) return;
    await check(folder);
    writeStamp(folder, recipe);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function writeStamp(folder, recipe) {
  writeFileSync(join(folder, STAMP), `${recipe}\n`);
}
