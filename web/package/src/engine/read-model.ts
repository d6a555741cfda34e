/** Streams model files into the module. Internal. */
import { KvasirError } from '../errors.js';
import type { Quantization } from '../types.js';
import type { WasmLoader, WasmModel, WasmModule } from '../wasm-module.js';
import type { OpenFile } from './open-file.js';
import { release, take } from './outcome.js';

/** Bytes that are handed to the module at once. */
const WINDOW_BYTES = 16 << 20;

export async function readModel(
  module: WasmModule,
  files: readonly (OpenFile & { readonly name: string })[],
  quantize: Quantization | undefined,
  onProgress: (loadedBytes: number, totalBytes: number) => void,
): Promise<WasmModel> {
  const list = files.map(({ name, byteLength }) => ({ name, bytes: byteLength }));
  const totalBytes = list.reduce((sum, { bytes }) => sum + bytes, 0);
  let loadedBytes = 0;
  const loader = new module.Loader();
  try {
    take(loader.begin(list, quantize ?? ''));
    for (const file of files) {
      let fileBytes = 0;
      for await (const chunk of ahead(file.chunks())) {
        fileBytes += chunk.byteLength;
        if (fileBytes > file.byteLength) throw wrongLength(file.byteLength, 'more');
        append(loader, chunk);
        loadedBytes += chunk.byteLength;
        onProgress(loadedBytes, totalBytes);
      }
      if (fileBytes < file.byteLength) throw wrongLength(file.byteLength, `only ${fileBytes}`);
    }
    return take(loader.finish());
  } finally {
    release(loader);
  }
}

/** Asks for a chunk before the last one is worked on, so that reading and packing run beside each other. */
async function* ahead<T>(source: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = source[Symbol.asyncIterator]();
  const ask = () => {
    const answer = iterator.next();
    answer.catch(() => undefined); // it is heard of when its turn comes
    return answer;
  };
  try {
    for (let next = ask(); ;) {
      const { done, value } = await next;
      if (done) return;
      next = ask();
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

function append(loader: WasmLoader, chunk: Uint8Array): void {
  for (let offset = 0; offset < chunk.byteLength; offset += WINDOW_BYTES) {
    const part = chunk.subarray(offset, offset + WINDOW_BYTES);
    take(loader.window(part.byteLength)).set(part);
    take(loader.append(part.byteLength));
  }
}

function wrongLength(announced: number, came: string): KvasirError {
  return new KvasirError('DOWNLOAD_FAILED', `the file should have ${announced} bytes, but ${came} came`);
}
