// Where things are. Everything that the set-up and the builds write is below an ignored folder of the repository.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const BUILD = join(ROOT, 'build');
export const TOOLCHAIN = join(ROOT, '.toolchain');
export const PACKAGE = join(ROOT, 'web/package');
