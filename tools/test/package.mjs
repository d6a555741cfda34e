// The npm package as its users get it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILD, PACKAGE, ROOT } from '../setup/paths.mjs';

const bin = (name) => join(ROOT, 'node_modules/.bin', name);

export const packageChecks = {
  publint: () => succeeds(bin('publint'), ['--strict'], PACKAGE),
  attw: () => succeeds(bin('attw'), ['--pack', '.', '--profile', 'esm-only'], PACKAGE),
  'types, as the tests use them': () => succeeds(bin('tsc'), ['--noEmit', '--project', 'tests/node'], ROOT),
  'size-limit': () => succeeds(bin('size-limit'), [], ROOT),
};

/** The tests of the package in Node. */
export function runVitest() {
  const report = join(BUILD, 'test/vitest.json');
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const config = join(ROOT, 'tests/node/vitest.config.mjs');
  const status = succeeds(bin('vitest'), ['run', '--config', config, ...reporters], ROOT);
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that cannot be loaded fails without a test of it.
  const failed = numFailedTests === 0 && !status ? 1 : numFailedTests;
  return { passed: numPassedTests, failed, skipped: numPendingTests };
}

/** The tests of the package in browsers, which close with a line of counts. */
export function runBrowserTests() {
  const script = join(ROOT, 'tests/browser/run.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  const closing = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(stdout);
  const [passed, failed, skipped] = (closing?.slice(1) ?? []).map((text) => Number(text ?? 0));
  if (status !== 0 && !failed) return { passed: passed ?? 0, failed: 1, skipped: skipped ?? 0 };
  return { passed, failed, skipped };
}

function succeeds(command, args, folder) {
  return spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status === 0;
}
