#!/usr/bin/env node
/** The command `kvasir`. Text goes to stdout, all else to stderr. Internal. */
import { run } from './cli/run.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has seen enough (`kvasir ... | head`).
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(process.argv.slice(2));
