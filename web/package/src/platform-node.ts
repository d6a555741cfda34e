/** Node: a worker thread. Internal. */
import { readdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { TEMPLATES } from './folder-files.js';
import type { EngineWorker, Platform } from './platform.js';
import type { FileSource, FromEngine, ToEngine } from './protocol.js';
import { relaxedDotIsRight } from './relaxed-dot.js';

class NodeWorker implements EngineWorker {
  readonly #worker = new Worker(new URL('./engine-worker-node.js', import.meta.url), {
    name: 'kvasir',
    // Options of the command line that a script was started with, such as --input-type, are not for the engine.
    execArgv: [],
  });
  #terminated = false;

  post(message: ToEngine, transfer: readonly ArrayBuffer[]): void {
    this.#worker.postMessage(message, transfer);
  }

  listen(onMessage: (message: FromEngine) => void, onCrash: (reason: string) => void): void {
    this.#worker.on('message', onMessage);
    this.#worker.on('messageerror', (error) => onCrash(error.message));
    this.#worker.on('error', (error) => onCrash(error.message));
    this.#worker.on('exit', (code) => {
      if (!this.#terminated) onCrash(`the worker thread exited with code ${code}`);
    });
  }

  setBusy(busy: boolean): void {
    if (busy) this.#worker.ref();
    else this.#worker.unref();
  }

  async terminate(): Promise<void> {
    this.#terminated = true;
    await this.#worker.terminate();
  }
}

// "C:\model.gguf" is a path: no scheme has one letter.
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

export const nodePlatform: Platform = {
  startWorker: () => new NodeWorker(),

  physicalCores: () => {
    const logical = availableParallelism();
    const threadsPerCore = process.arch === 'x64' && logical > 2 ? 2 : 1;
    return Math.max(1, Math.floor(logical / threadsPerCore));
  },

  canShareMemory: () => true,

  // Node 20 has it behind this flag, later ones need none. It only allows more instructions, so it stays set.
  allowRelaxedSimd: () => {
    if (Number(process.versions.node.split('.')[0]) < 22) setFlagsFromString('--experimental-wasm-relaxed-simd');
  },

  // The second compiler is right. Without the first, the engine starts some 0.4 s later.
  repairRelaxedDot: () => {
    setFlagsFromString('--no-liftoff');
    return relaxedDotIsRight(1);
  },

  locate: (file): FileSource => {
    if (typeof file === 'string' && !SCHEME.test(file)) return { kind: 'path', path: file };
    const url = new URL(file);
    return url.protocol === 'file:' ? { kind: 'path', path: fileURLToPath(url) } : { kind: 'url', url: url.href };
  },

  filesOfFolder: async (source) => {
    if (source.kind !== 'path') return undefined;
    // What is not there is told where it is opened.
    const isFolder = await stat(source.path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (!isFolder) return undefined;
    const inside = async (folder: string): Promise<string[]> =>
      (await readdir(folder)).map((name) => join(folder, name));
    return [...(await inside(source.path)), ...(await inside(join(source.path, TEMPLATES)).catch(() => []))];
  },
};
