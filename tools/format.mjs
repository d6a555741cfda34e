// Rewrites what is not formatted as it should be.
// Usage: npm run format
import { exit } from 'node:process';
import { orGiveUp, setUp } from './setup.mjs';
import { format } from './test/lint.mjs';

await orGiveUp(() => setUp({ lint: true }));
exit(format() ? 0 : 1);
