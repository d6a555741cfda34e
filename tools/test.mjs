// Sets up what is missing and runs every test, or the named parts.
// Usage: npm test [-- PART...]
import { argv, exit } from 'node:process';
import { VARIANTS, buildPackageIfNeeded } from './build.mjs';
import { orGiveUp, setUp } from './setup.mjs';
import { runCppTests } from './test/cpp.mjs';
import { checks as lintChecks } from './test/lint.mjs';
import { packageChecks, runBrowserTests, runVitest } from './test/package.mjs';
import { run } from './setup/process.mjs';
import { ROOT } from './setup/paths.mjs';
import { say } from './setup/report.mjs';

// `needs`: parts of the set-up. `run` gives counts.
const PARTS = {
  lint: { needs: { native: true, lint: true }, run: () => runChecks(lintChecks) },
  layers: { needs: {}, run: () => runChecks({ layers: checkLayers }) },
  native: { needs: { native: true }, run: () => runCppTests('native') },
  'native-asan': { needs: { native: true }, run: () => runCppTests('native-asan') },
  ...Object.fromEntries(
    VARIANTS.map((variant) => [
      `wasm-${variant}`,
      { needs: { wasm: true }, run: () => runCppTests(`wasm-${variant}`) },
    ]),
  ),
  vitest: { needs: { wasm: true }, run: () => withPackage(runVitest) },
  package: { needs: { wasm: true }, run: () => withPackage(() => runChecks(packageChecks)) },
  browser: { needs: { wasm: true, browsers: true }, run: () => withPackage(runBrowserTests) },
};

const names = argv.slice(2);
const unknown = names.find((name) => !(name in PARTS));
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}": ${Object.keys(PARTS).join(', ')}`);
  exit(2);
}
const parts = names.length > 0 ? names : Object.keys(PARTS);
await orGiveUp(() => setUp(Object.assign({}, ...parts.map((name) => PARTS[name].needs))));

const total = { passed: 0, failed: 0, skipped: 0 };
const summary = [];
for (const name of parts) {
  console.log(`\n== ${name}`);
  const count = await runPart(PARTS[name]);
  for (const outcome of Object.keys(total)) total[outcome] += count[outcome];
  summary.push(`${name}: ${describe(count)}`);
}
console.log(`\n== summary\n${summary.join('\n')}\n\n${describe(total)}`);
exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

async function runPart({ run: runTests }) {
  try {
    const count = await runTests();
    if (count.passed + count.failed + count.skipped > 0) return count;
    console.error('no test ran');
  } catch (error) {
    console.error(error.message);
  }
  return { passed: 0, failed: 1, skipped: 0 };
}

async function runChecks(checks) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, check] of Object.entries(checks)) {
    const passed = await check();
    console.log(`${passed ? 'ok' : 'FAILED'}  ${name}`);
    count[passed ? 'passed' : 'failed'] += 1;
  }
  return count;
}

async function withPackage(runTests) {
  await buildPackageIfNeeded();
  return runTests();
}

function checkLayers() {
  try {
    process.stdout.write(run(process.execPath, ['tools/check-layers.mjs'], { cwd: ROOT }));
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
}

function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
