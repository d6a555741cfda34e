/** The packed package: its size, and its life in an empty project. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage } from './install-package.mjs';
import { run } from './run.js';

const packageFolder = fileURLToPath(new URL('../../web/package/', import.meta.url));

describe('npm pack', () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: packageFolder, encoding: 'utf8' }),
  ) as [{ size: number; files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);

  test('gives a tarball of at most 6 MB', () => {
    expect(packed.size).toBeLessThanOrEqual(6_000_000);
  });

  test('packs the engine in every variant, the model, the licence and the words, and no source', () => {
    const variants = ['st', 'mt', 'relaxed', 'relaxed-st'];
    const engine = variants.flatMap((variant) => [
      `dist/wasm/kvasir-${variant}.js`,
      `dist/wasm/kvasir-${variant}.wasm`,
    ]);
    const words = ['LICENSE', 'README.md', 'package.json'];
    expect(paths).toEqual(
      expect.arrayContaining([...engine, ...words, 'models/kvasir-stories.gguf', 'dist/index.d.ts']),
    );
    expect(paths.filter((path) => /^src\/|\.mjs$|tsbuildinfo/.test(path))).toEqual([]);
  });
});

test.each(readdirSync(join(packageFolder, 'dist/wasm')).filter((name) => name.endsWith('.wasm')))(
  '%s is at most 1.2 MB, and 400 KB gzipped',
  (name) => {
    const file = join(packageFolder, 'dist/wasm', name);
    expect(statSync(file).size).toBeLessThanOrEqual(1_200_000);
    expect(gzipSync(readFileSync(file), { level: 9 }).length).toBeLessThanOrEqual(400_000);
  },
);

describe('installed into an empty project', () => {
  const project = mkdtempSync(join(realpathSync(tmpdir()), 'kvasir-project-'));
  beforeAll(() => installPackage(project));
  afterAll(() => rmSync(project, { recursive: true }));

  test('it writes a story', async () => {
    writeFileSync(
      join(project, 'story.js'),
      `import { embeddedModel, loadModel } from 'kvasir';
const model = await loadModel(embeddedModel);
for await (const { text } of model.generate('', { temperature: 0, maxTokens: 20 })) process.stdout.write(text);
await model.dispose();`,
    );
    const { stdout, stderr, code } = await run(process.execPath, ['story.js'], { cwd: project });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout.length).toBeGreaterThan(10);
  });

  test('its command runs', async () => {
    const command = join(project, 'node_modules/.bin/kvasir');
    const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
    expect(await run(command, ['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await run(command, ['generate', '--max-tokens', '3'])).toMatchObject({ code: 0, stderr: '' });
  });

  test.each(['nodenext', 'bundler'])(
    'its types hold under "%s" module resolution, without any help',
    async (resolution) => {
      writeFileSync(
        join(project, 'use.ts'),
        `import { embeddedModel, KvasirError, loadModel, type ErrorCode, type Piece } from 'kvasir';
await using model = await loadModel(embeddedModel, { variant: 'auto', onProgress: ({ loadedBytes }) => loadedBytes });
const pieces: Piece[] = [];
for await (const piece of model.generate('x', { stop: ['a'], logitBias: { 1: 2 } })) pieces.push(piece);
const { text, timings }: { text: string; timings: object } = await model.generate([1, 2]).result();
export const code: ErrorCode | undefined = text === '' && timings ? new KvasirError('ABORTED', '').code : undefined;
// @ts-expect-error: there is no such option
model.generate('x', { temprature: 1 });`,
      );
      const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
      const tsc = join(
        dirname(manifest),
        (JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } }).bin.tsc,
      );
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', module];
      const { stdout, code } = await run(
        process.execPath,
        [tsc, ...options, '--moduleResolution', resolution, 'use.ts'],
        {
          cwd: project,
        },
      );
      expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
    },
  );
});
