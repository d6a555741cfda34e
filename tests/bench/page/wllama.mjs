// What both releases of wllama share.

const silent = () => undefined;
export const QUIET = {
  suppressNativeLog: true,
  logger: { debug: silent, log: silent, warn: silent, error: silent },
};

/** Its own choice of flash attention; a quantized cache needs it. */
export function cacheOptions(kv) {
  const type = kv === 'i8' ? 'q8_0' : 'f16';
  return { cache_type_k: type, cache_type_v: type, ...(kv === 'i8' && { flash_attn: true }) };
}

/**
 * Lets the size of its memory be asked for, which its API does not tell: its worker is made from a Blob, and gets a
 * listener more. To be called before a model is loaded.
 */
export function watchMemory() {
  const answer = `
addEventListener('message', ({ data, ports }) => {
  if (data !== 'memory') return;
  ports[0].postMessage((Module.wasmMemory ? Module.wasmMemory.buffer : Module.HEAPU8.buffer).byteLength);
});`;
  let worker;
  const { Blob, Worker } = globalThis;
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      const isWorker = typeof parts?.[0] === 'string' && parts[0].startsWith('const RUN_OPTIONS');
      super(isWorker ? [...parts, answer] : parts, options);
    }
  };
  globalThis.Worker = class extends Worker {
    constructor(url, options) {
      super(url, options);
      worker ??= this;
    }
  };
  return {
    bytes() {
      const { port1, port2 } = new MessageChannel();
      return new Promise((resolve) => {
        port1.onmessage = ({ data }) => resolve(data);
        worker.postMessage('memory', [port2]);
      });
    },
  };
}
