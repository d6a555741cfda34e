/** Where the tests' models are, and what they say. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const sharedModels = new URL('../../../shared/models/', import.meta.url);

export const stories260K = fileURLToPath(new URL('stories260K.gguf', sharedModels));
export const vocabularyOnly = fileURLToPath(new URL('ggml-vocab-llama-spm.gguf', sharedModels));
export const hasSharedModels = existsSync(stories260K);

if (!hasSharedModels) {
  console.warn(`${fileURLToPath(sharedModels)} is missing: the tests that need its models are skipped`);
}

/** What stories260K writes after an empty prompt at temperature 0, in 256 tokens: the indented text of the README. */
export function expectedStory(): string {
  const readme = readFileSync(new URL('README.md', sharedModels), 'utf8');
  const lines = readme.split('\n').filter((line) => line.startsWith('    '));
  return lines.map((line) => line.slice(4)).join('\n');
}
