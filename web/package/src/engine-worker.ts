/** The engine in a browser's worker. Internal. */
import { runEngine } from './engine/engine.js';
import type { FromEngine, ToEngine } from './protocol.js';
import { KvasirError } from './errors.js';

interface WorkerScope {
  onmessage: ((event: MessageEvent<ToEngine>) => void) | null;
  postMessage(message: FromEngine, transfer: readonly ArrayBuffer[]): void;
}

const scope = globalThis as unknown as WorkerScope;
const { port1, port2 } = new MessageChannel();

runEngine({
  post: (message, transfer) => scope.postMessage(message, transfer),
  listen: (onMessage) => {
    scope.onmessage = (event) => onMessage(event.data);
  },
  // A timer would be slowed down to 4 ms.
  nextTask: () =>
    new Promise((resolve) => {
      port1.onmessage = () => resolve();
      port2.postMessage(undefined);
    }),
  openPath: async () => {
    throw new KvasirError('INVALID_ARGUMENT', 'a browser cannot open a path');
  },
});
