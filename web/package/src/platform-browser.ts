/** Browsers: a module worker. Internal. */
import type { EngineWorker, Platform } from './platform.js';
import type { FileSource, FromEngine, ToEngine } from './protocol.js';

class BrowserWorker implements EngineWorker {
  // The literal form that bundlers look for.
  readonly #worker = new Worker(new URL('./engine-worker.js', import.meta.url), { type: 'module' });

  post(message: ToEngine, transfer: readonly ArrayBuffer[]): void {
    this.#worker.postMessage(message, [...transfer]);
  }

  listen(onMessage: (message: FromEngine) => void, onCrash: (reason: string) => void): void {
    this.#worker.onmessage = (event: MessageEvent<FromEngine>) => onMessage(event.data);
    this.#worker.onmessageerror = () => onCrash('a message could not be read');
    this.#worker.onerror = (event) => {
      event.preventDefault();
      onCrash(event.message || 'the worker script could not be loaded');
    };
  }

  setBusy(): void {
    // A page's workers live as long as the page.
  }

  async terminate(): Promise<void> {
    this.#worker.terminate();
  }
}

export const browserPlatform: Platform = {
  startWorker: () => new BrowserWorker(),

  // Two hardware threads a core, as on most machines with more than a few.
  physicalCores: () => {
    const logical = navigator.hardwareConcurrency || 2;
    return logical <= 2 ? logical : Math.max(2, Math.floor(logical / 2));
  },

  canShareMemory: () => typeof SharedArrayBuffer !== 'undefined' && globalThis.crossOriginIsolated === true,

  allowRelaxedSimd: () => undefined,

  repairRelaxedDot: () => false,

  locate: (file): FileSource => ({
    kind: 'url',
    url: new URL(file, typeof document === 'undefined' ? location.href : document.baseURI).href,
  }),

  filesOfFolder: async () => undefined,
};
