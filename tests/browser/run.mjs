// The package in real browsers: a page built with Vite from the packed tarball (and one served by Vite's dev server)
// streams a story that must be the one that Node writes. Browsers that are not installed are skipped, unless CI is set.
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, createServer } from 'vite';
import { launchers } from './browsers.mjs';
import { installPackage } from '../node/install-package.mjs';
import { ISOLATION_HEADERS, serveFolder } from './static-server.mjs';

const MAX_TOKENS = 64;

const project = mkdtempSync(join(realpathSync(tmpdir()), 'kvasir-page-'));
const cleanups = [() => rmSync(project, { recursive: true, force: true })];
const count = { passed: 0, failed: 0, skipped: 0 };

try {
  await main();
} catch (error) {
  console.error(error);
  count.failed += 1;
} finally {
  for (const clean of cleanups.reverse()) await clean();
}
console.log(`${count.passed} passed, ${count.failed} failed${count.skipped ? `, ${count.skipped} skipped` : ''}`);
process.exit(count.failed > 0 || count.passed === 0 ? 1 : 0);

async function main() {
  installPackage(project);
  cpSync(fileURLToPath(new URL('./app/', import.meta.url)), project, { recursive: true });
  await build({ root: project, configFile: false, logLevel: 'warn', build: { outDir: 'site' } });

  const isolated = await serve({ isolated: true });
  const plain = await serve({ isolated: false });
  const dev = await serveDevelopment();
  await inBrowser('chromium', [
    ['isolated, chooses threads and relaxed SIMD', isolated, {}, 'relaxed'],
    ['isolated, one thread asked for', isolated, { threads: 1 }, 'relaxed-st'],
    ['isolated, mt', isolated, { variant: 'mt', threads: 2 }, 'mt'],
    ['isolated, st, from a Blob', isolated, { variant: 'st', source: 'blob' }, 'st'],
    ['isolated, from an ArrayBuffer', isolated, { source: 'buffer' }, 'relaxed'],
    ['not isolated, chooses one thread', plain, {}, 'relaxed-st'],
    ['served by the dev server', dev, {}, 'relaxed'],
  ]);
  await inBrowser('firefox', [
    ['isolated, chooses threads', isolated, {}, undefined],
    ['isolated, mt', isolated, { variant: 'mt', threads: 2 }, 'mt'],
    ['not isolated, chooses one thread', plain, {}, undefined],
  ]);
  await inBrowser('webkit', [['not isolated, chooses one thread', plain, {}, undefined]]);

  async function inBrowser(name, cases) {
    const { isInstalled, launch } = launchers[name];
    if (!isInstalled() && !process.env.CI) {
      console.log(`skipped: ${name} is not installed`);
      count.skipped += cases.length;
      return;
    }
    const browser = await launch();
    try {
      for (const [title, url, options, variant] of cases) {
        await check(`${name}: ${title}`, async () => {
          const query = new URLSearchParams({ ...options, maxTokens: MAX_TOKENS });
          return judge(await browser.open(`${url}?${query}`), { variant, isolated: url !== plain });
        });
      }
    } finally {
      await browser.close();
    }
  }
}

/** What is wrong with the outcome of the page, if something is. */
async function judge({ value, error }, { variant, isolated }) {
  if (error !== undefined) return error;
  const { engine } = value;
  const expected = await storyInNode(engine.variant);
  if (value.text !== expected.text) return `the text is "${value.text}", in Node it is "${expected.text}"`;
  if (JSON.stringify(value.tokens) !== JSON.stringify(expected.tokens)) return 'the tokens are not those of Node';
  if (variant !== undefined && engine.variant !== variant) return `it chose ${engine.variant}, not ${variant}`;
  if (value.isolated !== isolated) return `crossOriginIsolated is ${value.isolated}`;
  if (!isolated && engine.threads !== 1) return `it has ${engine.threads} threads without isolation`;
  const { loadedBytes, totalBytes } = value.progress;
  if (loadedBytes === 0 || loadedBytes !== totalBytes) return `the progress ended at ${loadedBytes} of ${totalBytes}`;
  if (value.aborted !== 'abort') return `an aborted generation finished with ${value.aborted}`;
  if (value.disposed !== 'DISPOSED') return `a disposed model answered ${value.disposed}`;
  return undefined;
}

async function check(title, run) {
  const complaint = await run().catch((error) => error.message);
  count[complaint === undefined ? 'passed' : 'failed'] += 1;
  console.log(
    `${complaint === undefined ? 'ok' : 'FAILED'}  ${title}${complaint === undefined ? '' : `: ${complaint}`}`,
  );
}

async function serve(options) {
  const server = await serveFolder(join(project, 'site'), options);
  cleanups.push(server.close);
  return server.url;
}

async function serveDevelopment() {
  const server = await createServer({
    root: project,
    configFile: false,
    logLevel: 'warn',
    server: { host: '127.0.0.1', port: 0, headers: ISOLATION_HEADERS },
  });
  await server.listen();
  cleanups.push(() => server.close());
  return server.resolvedUrls.local[0];
}

/** The same variant writes the same story everywhere. */
async function storyInNode(variant) {
  const entry = pathToFileURL(join(project, 'node_modules/kvasir/dist/index-node.js')).href;
  const { embeddedModel, loadModel } = await import(entry);
  const model = await loadModel(embeddedModel, { variant });
  const result = await model.generate('', { temperature: 0, maxTokens: MAX_TOKENS }).result();
  await model.dispose();
  return result;
}
