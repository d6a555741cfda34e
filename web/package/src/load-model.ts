import { EngineClient } from './engine-client.js';
import { invalidArgument, KvasirError } from './errors.js';
import { Model } from './model.js';
import { inspection } from './inspection.js';
import { readLoadOptions } from './options.js';
import type { Platform } from './platform.js';
import type { EngineEvent, FileSource, LoadReply } from './protocol.js';
import { filesOfFolderUrl, isFolderUrl, namedFiles, type NamedFile } from './folder-files.js';
import type { LoadOptions, ModelFile, ModelInspection, ModelSource } from './types.js';
import { chooseEngine } from './variant.js';
import { wasmUrls } from './wasm-urls.js';

/** Loads a model; see index.ts. Internal. */
export async function loadModelOn(platform: Platform, source: ModelSource, options: LoadOptions): Promise<Model> {
  const { client, info, engine } = await startEngine(platform, source, options, false);
  return new Model(client, info, engine);
}

/** Reads what a model says of itself; see index.ts. Internal. */
export async function inspectModelOn(
  platform: Platform,
  source: ModelSource,
  options: LoadOptions,
): Promise<ModelInspection> {
  const { client, info, engine } = await startEngine(platform, source, options, true);
  await client.stop(new KvasirError('DISPOSED', 'the model was only inspected'));
  return inspection(info, engine, options);
}

/** An engine in which a model is loaded, or only what it says of itself. */
async function startEngine(
  platform: Platform,
  source: ModelSource,
  options: LoadOptions,
  headersOnly: boolean,
): Promise<LoadReply & { readonly client: EngineClient }> {
  const { variant: wanted, threads: wantedThreads, session, quantize } = readLoadOptions(options);
  const { signal } = options;
  throwIfAborted(signal);
  const named = await modelFiles(platform, source, signal);
  const files = named.map(({ file }) => file);
  const sources = named.map(({ file, name }) => ({ ...fileSource(platform, file), name }));
  throwIfAborted(signal);
  const { variant, threads } = await chooseEngine(platform, wanted, wantedThreads);
  throwIfAborted(signal);

  const client = new EngineClient(platform.startWorker());
  const onAbort = (): void => void client.stop(abortError(signal));
  signal?.addEventListener('abort', onAbort);
  try {
    const { reply } = client.call(
      { type: 'load', files: sources, quantize, headersOnly, variant, threads, session, ...wasmUrls(variant) },
      loadEventHandler(client, files, options),
    );
    return { client, ...(await reply) };
  } catch (error) {
    await client.stop(error instanceof KvasirError ? error : new KvasirError('INTERNAL', String(error)));
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Reports progress, and hands out the caller's memory chunk by chunk. */
function loadEventHandler(
  client: EngineClient,
  files: readonly ModelFile[],
  { onProgress }: LoadOptions,
): (event: EngineEvent) => void {
  return (event) => {
    if (event.type === 'progress') {
      onProgress?.({ loadedBytes: event.loadedBytes, totalBytes: event.totalBytes });
    } else if (event.type === 'pull') {
      const file = files[event.file];
      if (file instanceof ArrayBuffer || file instanceof Uint8Array) {
        const bytes = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
        client.sendChunk(new Uint8Array(bytes.subarray(event.offset, event.offset + event.length)));
      }
    }
  };
}

async function modelFiles(
  platform: Platform,
  source: ModelSource,
  signal: AbortSignal | undefined,
): Promise<readonly NamedFile[]> {
  const files = isList(source) ? source : [source];
  if (files.length === 0) throw invalidArgument('source', 'at least one file', source);
  const [first] = files;
  if (files.length > 1 || first === undefined) return namedFiles(files);
  if (isFolderUrl(first)) {
    try {
      return await filesOfFolderUrl(first, signal);
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    }
  }
  const inFolder = await platform.filesOfFolder(fileSource(platform, first));
  const named = namedFiles(inFolder ?? files);
  if (inFolder !== undefined && named.every(({ name }) => name === '')) {
    throw new KvasirError(
      'MALFORMED_FILE',
      `the folder ${String(first)} has no safetensors and no tokenizer; name a GGUF file by its own path`,
    );
  }
  return named;
}

function isList(source: ModelSource): source is readonly ModelFile[] {
  return Array.isArray(source);
}

function fileSource(platform: Platform, file: ModelFile): FileSource {
  if (file instanceof Blob) return { kind: 'blob', blob: file };
  if (file instanceof ArrayBuffer || file instanceof Uint8Array) return { kind: 'buffer', byteLength: file.byteLength };
  if (file instanceof URL || (typeof file === 'string' && file !== '')) {
    try {
      return platform.locate(file);
    } catch (error) {
      throw new KvasirError('INVALID_ARGUMENT', `source ${JSON.stringify(String(file))} is no URL`, { cause: error });
    }
  }
  throw invalidArgument(
    'source',
    'a URL, a path (in Node), a File, a Blob, an ArrayBuffer, a Uint8Array or a list of these',
    file,
  );
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

function abortError(signal: AbortSignal | undefined): KvasirError {
  return new KvasirError('ABORTED', 'loading the model was aborted', { cause: signal?.reason });
}
