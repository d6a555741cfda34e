// The C++ tests of one preset, counted by test case.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPreset, configurePreset } from '../build/cmake.mjs';

export function runCppTests(preset) {
  buildPreset(preset);
  const folder = configurePreset(preset);
  const results = join(folder, 'tests/cpp/results');
  rmSync(results, { recursive: true, force: true });
  const args = [
    '--test-dir',
    folder,
    '--output-on-failure',
    '--parallel',
    String(availableParallelism()),
    '--timeout',
    '900',
  ];
  const { status } = spawnSync('ctest', args, { stdio: 'inherit' });
  const count = countCases(results);
  // A program that crashed leaves no results.
  if (status !== 0 && count.failed === 0) count.failed = 1;
  return count;
}

function countCases(results) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  if (!statSync(results, { throwIfNoEntry: false })) return count;
  for (const name of readdirSync(results)) {
    const { testsuites } = JSON.parse(readFileSync(join(results, name), 'utf8'));
    for (const { testsuite } of testsuites) {
      for (const test of testsuite) count[outcomeOf(test)] += 1;
    }
  }
  return count;
}

function outcomeOf({ failures, result, status }) {
  if (failures) return 'failed';
  return result === 'SKIPPED' || status === 'NOTRUN' ? 'skipped' : 'passed';
}
