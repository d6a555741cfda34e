/** The engine in a worker thread of Node. Internal. */
import { open, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { runEngine } from './engine/engine.js';
import { CHUNK_BYTES, readingFrom, type OpenFile } from './engine/open-file.js';

async function openPath(path: string): Promise<OpenFile> {
  const { size } = await readingFrom(path, () => stat(path));
  return {
    byteLength: size,
    async *chunks() {
      const file = await readingFrom(path, () => open(path));
      try {
        let buffer = new Uint8Array(Math.min(CHUNK_BYTES, size));
        let other = new Uint8Array(buffer.byteLength);
        for (let offset = 0; offset < size; [buffer, other] = [other, buffer]) {
          const { bytesRead } = await readingFrom(path, () => file.read(buffer, 0, buffer.byteLength, offset));
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
          offset += bytesRead;
        }
      } finally {
        await file.close();
      }
    },
  };
}

if (parentPort !== null) {
  const port = parentPort;
  runEngine({
    post: (message, transfer) => port.postMessage(message, transfer),
    listen: (onMessage) => port.on('message', onMessage),
    nextTask: () => setImmediate(),
    openPath,
  });
}
