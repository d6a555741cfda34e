// The command kvasir from the repository: builds it first where it is not built yet, or not from the current sources.
// Usage: npm run -s kvasir -- ARGS
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildPackageIfNeeded } from './build.mjs';
import { orGiveUp } from './setup.mjs';
import { PACKAGE } from './setup/paths.mjs';

await orGiveUp(buildPackageIfNeeded);

// npm goes to the repository's folder; files are named from where the user is.
if (process.env.npm_lifecycle_event === 'kvasir' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
const command = join(PACKAGE, 'dist/cli.js');
process.argv[1] = command;
await import(pathToFileURL(command).href);
