/** The files of a Hugging Face folder: which of them a model is made of, and their order. Internal. */
import { KvasirError } from './errors.js';
import type { ModelFile } from './types.js';

/** A file of a model; one of a folder has its name there, such as "config.json". */
export interface NamedFile {
  readonly file: ModelFile;
  readonly name: string;
}

const INDEX = 'model.safetensors.index.json';
const SMALL_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'chat_template.json',
  'tokenizer.json',
  'tokenizer.model',
  INDEX,
];
const WEIGHTS = /\.safetensors$/;
/** What transformers saves, beside which other forms of the same weights may lie. */
const STANDARD_WEIGHTS = /^model(-\d+-of-\d+)?\.safetensors$/;
/** Where a folder keeps chat templates that have names. */
export const TEMPLATES = 'additional_chat_templates';
const TEMPLATE = new RegExp(`(?:^|/)(${TEMPLATES}/[^/]+\\.jinja)$`);

/** The name of a file in its folder; '' for one that is no part of a folder. */
function nameOf(file: ModelFile): string {
  if (file instanceof ArrayBuffer || file instanceof Uint8Array) return '';
  const path =
    file instanceof Blob
      ? blobPath(file)
      : String(file)
          .replace(/[?#].*$/, '')
          .replaceAll('\\', '/');
  const name = TEMPLATE.exec(path)?.[1] ?? path.slice(path.lastIndexOf('/') + 1);
  return SMALL_FILES.includes(name) || WEIGHTS.test(name) || name.endsWith('.jinja') ? name : '';
}

function blobPath(blob: Blob & { readonly name?: string; readonly webkitRelativePath?: string }): string {
  return blob.webkitRelativePath || blob.name || '';
}

/** Files as they were given; those of a folder by name, in the order in which the engine reads them. */
export function namedFiles(files: readonly ModelFile[]): readonly NamedFile[] {
  const named = files.map((file) => ({ file, name: nameOf(file) }));
  if (named.every(({ name }) => name === '')) return named;
  const standard = named.some(({ name }) => STANDARD_WEIGHTS.test(name));
  const weights = named.filter(({ name }) => (standard ? STANDARD_WEIGHTS : WEIGHTS).test(name));
  const small = named.filter(({ name }) => name !== '' && !WEIGHTS.test(name));
  const needless = small.some(({ name }) => name === 'tokenizer.json') ? 'tokenizer.model' : '';
  return [...small.filter(({ name }) => name !== needless), ...weights.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

/** Whether a string or URL is the address of a folder on a server. */
export function isFolderUrl(file: ModelFile): file is string | URL {
  if (typeof file !== 'string' && !(file instanceof URL)) return false;
  return /^https?:.*\/$/.test(String(file)) && URL.canParse(String(file));
}

/** The files of the folder at a URL that ends with a slash: its small ones, and where its weights are. */
export async function filesOfFolderUrl(base: string | URL, signal: AbortSignal | undefined): Promise<NamedFile[]> {
  const fetched = await Promise.all(SMALL_FILES.map((name) => fetchSmall(new URL(name, base), name, signal)));
  const small = fetched.filter((file) => file !== undefined);
  const index = small.find(({ name }) => name === INDEX);
  const has = (name: string): boolean => small.some((file) => file.name === name);
  if (!has('config.json') && !has('tokenizer.json') && !has('tokenizer.model')) {
    throw new KvasirError('DOWNLOAD_FAILED', `${String(base)} has neither config.json nor a tokenizer`);
  }
  if (!has('config.json')) return small;
  const shards = index === undefined ? ['model.safetensors'] : await shardsOf(index.file);
  return [...small, ...shards.map((name) => ({ file: new URL(name, base), name }))];
}

async function fetchSmall(
  url: URL,
  name: string,
  signal: AbortSignal | undefined,
): Promise<{ file: Blob; name: string } | undefined> {
  try {
    const response = await fetch(url, { signal: signal ?? null });
    // Some servers answer with a page where there is no file.
    if (response.headers.get('content-type')?.startsWith('text/html')) return undefined;
    if (response.ok) return { file: await response.blob(), name };
    if (response.status === 404 || response.status === 403) return undefined;
    throw new Error(`the server answered ${response.status} ${response.statusText}`);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new KvasirError('DOWNLOAD_FAILED', `${url.href} could not be read: ${String(error)}`, { cause: error });
  }
}

async function shardsOf(index: Blob): Promise<string[]> {
  const { weight_map: map } = JSON.parse(await index.text()) as { weight_map?: Record<string, unknown> };
  const names = new Set(Object.values(map ?? {}).filter((name) => typeof name === 'string'));
  if (names.size === 0) throw new KvasirError('MALFORMED_FILE', `${INDEX} names no files`);
  return [...names].sort();
}
