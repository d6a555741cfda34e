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

/** Whether the folder was installed to its end, here (a folder that was moved does not count), as `recipe` says. */
export function isInstalled(folder, recipe) {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampText(folder, recipe);
}

/** Fills a temporary folder beside `folder`, puts it in the place of what was there, and stamps it. */
export async function installFolder(folder, recipe, fill, check = () => undefined) {
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(join(dirname(folder), `.${basename(folder)}-`));
  chmodSync(temporary, 0o755);
  try {
    await fill(temporary);
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
    await check(folder);
    writeFileSync(join(folder, STAMP), stampText(folder, recipe));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function stampText(folder, recipe) {
  return `${recipe}\n${folder}\n`;
}
