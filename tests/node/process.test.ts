/** What a loaded model does to the life of a process. */
import { expect, test } from 'vitest';
import { run } from './run.js';

const entry = new URL('../../web/package/dist/index-node.js', import.meta.url).href;

function script(body: string) {
  const source = `import { embeddedModel, loadModel } from '${entry}';
const model = await loadModel(embeddedModel);
${body}`;
  return run(process.execPath, ['--input-type=module', '--eval', source]);
}

test('a process ends although it left an idle model loaded', async () => {
  expect(await script(`console.log(model.info.vocabularySize > 0);`)).toEqual({
    stdout: 'true\n',
    stderr: '',
    code: 0,
    signal: null,
  });
});

test('a process stays until the generation that it started has ended', async () => {
  const { stdout, code } = await script(`
model.generate('', { maxTokens: 40, ignoreEos: true }).result().then(({ tokens }) => console.log(tokens.length));`);
  expect({ stdout, code }).toEqual({ stdout: '40\n', code: 0 });
});

test('a process ends after dispose, and after a failed load', async () => {
  const { stdout, stderr, code } = await script(`
await model.generate('', { maxTokens: 2 }).result();
await model.dispose();
console.log(await loadModel(new Uint8Array(100)).catch((error) => error.code));`);
  expect({ stdout, stderr, code }).toEqual({ stdout: 'MALFORMED_FILE\n', stderr: '', code: 0 });
});
