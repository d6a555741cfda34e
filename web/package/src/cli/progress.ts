/** How far a model is loaded, on a terminal. Internal. */
import type { WriteStream } from 'node:tty';
import type { LoadProgress } from '../types.js';
import { formatBytes } from '../format.js';

export interface ProgressLine {
  update(progress: LoadProgress): void;
  clear(): void;
}

export function showProgress(stream: WriteStream): ProgressLine {
  let shown = false;
  const write = (text: string): void => {
    if (stream.isTTY) stream.write(`\r\x1b[K${text}`);
  };
  return {
    update: ({ loadedBytes, totalBytes }) => {
      shown = true;
      const share = totalBytes
        ? ` of ${formatBytes(totalBytes)} (${Math.floor((100 * loadedBytes) / totalBytes)} %)`
        : '';
      write(`loading ${formatBytes(loadedBytes)}${share}`);
    },
    clear: () => {
      if (shown) write('');
    },
  };
}
