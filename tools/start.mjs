// Sets up what is missing, builds what changed, and tells a story.
// Usage: npm start [-- OPTIONS]    options of "kvasir generate" in the place of the usual ones
import { buildPackageIfNeeded } from './build.mjs';
import { orGiveUp } from './setup.mjs';

await orGiveUp(buildPackageIfNeeded);

const OPENING = 'Once upon a time';
const given = process.argv.slice(2);
if (given.length === 0) process.stdout.write(OPENING);
const usual = ['--prompt', OPENING, '--temperature', '0.6', '--top-p', '0.9', '--max-tokens', '400'];
process.argv.splice(2, given.length, 'generate', ...(given.length > 0 ? given : usual), '--stats');
await import('./kvasir.mjs');
