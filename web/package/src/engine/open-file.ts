/** Model files as streams of bytes. Errors are DOWNLOAD_FAILED. Internal. */
import { KvasirError } from '../errors.js';

/** A file whose length is known before its bytes come. */
export interface OpenFile {
  readonly byteLength: number;
  /** Once. A chunk keeps its bytes until the one after the next is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Bytes that are read in one go. */
export const CHUNK_BYTES = 4 << 20;

export function openBlob(blob: Blob): OpenFile {
  return {
    byteLength: blob.size,
    async *chunks() {
      for (let offset = 0; offset < blob.size; offset += CHUNK_BYTES) {
        const chunk = blob.slice(offset, offset + CHUNK_BYTES);
        yield new Uint8Array(await readingFrom('the file', () => chunk.arrayBuffer()));
      }
    },
  };
}

/**
 * A file at a URL. Where the server does not tell its length, the whole is kept as a Blob first, and `onUnsized` hears of
 * the bytes as they come.
 */
export async function openUrl(url: string, onUnsized: (loadedBytes: number) => void): Promise<OpenFile> {
  const response = await request(url);
  const byteLength = announcedLength(response);
  if (byteLength === undefined) return openBlob(await collect(url, response, onUnsized));
  return { byteLength, chunks: () => bodyChunks(url, response) };
}

/** One of several files: only its length is asked for until its turn comes. */
export async function openUrlLater(url: string, onUnsized: (loadedBytes: number) => void): Promise<OpenFile> {
  const head = await request(url, 'HEAD').catch(() => undefined);
  const byteLength = head && announcedLength(head);
  if (byteLength === undefined) return openUrl(url, onUnsized);
  return {
    byteLength,
    async *chunks() {
      yield* bodyChunks(url, await request(url));
    },
  };
}

async function request(url: string, method = 'GET'): Promise<Response> {
  const response = await readingFrom(url, () => fetch(url, { method }));
  if (!response.ok) {
    throw new KvasirError('DOWNLOAD_FAILED', `${url}: the server answered ${response.status} ${response.statusText}`);
  }
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    throw new KvasirError('DOWNLOAD_FAILED', `${url}: the server sent a web page instead of a model file`);
  }
  return response;
}

function announcedLength(response: Response): number | undefined {
  const length = response.headers.get('content-length');
  // The length of a compressed body is not the file's.
  if (length === null || response.headers.has('content-encoding')) return undefined;
  return Number(length);
}

async function* bodyChunks(url: string, response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await readingFrom(url, () => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // After an error there is nobody left to hear of another one.
    reader.cancel().catch(() => undefined);
  }
}

async function collect(url: string, response: Response, onUnsized: (loadedBytes: number) => void): Promise<Blob> {
  const parts: Blob[] = [];
  let loadedBytes = 0;
  for await (const chunk of bodyChunks(url, response)) {
    parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
    loadedBytes += chunk.byteLength;
    onUnsized(loadedBytes);
  }
  return new Blob(parts);
}

/** Names the place in what went wrong there. */
export async function readingFrom<T>(place: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    // A data URL would fill the screen.
    const where = place.length > 200 ? `${place.slice(0, 200)}...` : place;
    throw new KvasirError('DOWNLOAD_FAILED', `${where} could not be read: ${reason(error)}`, { cause: error });
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message;
}
