/** The engine: answers requests with the WebAssembly module, in a worker. Internal. */
import { errorFromCode, KvasirError } from '../errors.js';
import {
  FIRST_SESSION,
  type EngineEvent,
  type FileSource,
  type GenerateReply,
  type GenerateRequest,
  type LoadReply,
  type LoadRequest,
  type Replies,
  type Request,
  type SessionReply,
  type ToEngine,
} from '../protocol.js';
import type { MemoryUsage, ModelInfo } from '../types.js';
import type { WasmModel, WasmModule, WasmModuleFactory, WasmSession } from '../wasm-module.js';
import { CHUNK_BYTES, openBlob, openUrl, openUrlLater, readingFrom, type OpenFile } from './open-file.js';
import { crashError, release, take } from './outcome.js';
import type { EnginePort } from './port.js';
import { readModel } from './read-model.js';

const PROGRESS_INTERVAL_MS = 50;

export function runEngine(port: EnginePort): void {
  new Engine(port);
}

class Engine {
  readonly #port: EnginePort;
  #module: WasmModule | undefined;
  #model: WasmModel | undefined;
  readonly #sessions = new Map<number, WasmSession>();
  #nextSession = FIRST_SESSION;
  #info: ModelInfo | undefined;
  /** The generation that runs. The caller sends one at a time. */
  #running: { readonly id: number; aborted: boolean } | undefined;
  #onChunk: (chunk: Uint8Array) => void = () => undefined;

  constructor(port: EnginePort) {
    this.#port = port;
    port.listen((message) => this.#receive(message));
  }

  #receive(message: ToEngine): void {
    if ('chunk' in message) this.#onChunk(message.chunk);
    else if ('abort' in message) {
      if (this.#running?.id === message.abort) this.#running.aborted = true;
    } else void this.#answer(message.id, message.request);
  }

  async #answer(id: number, request: Request): Promise<void> {
    try {
      const value = await this.#handle(id, request);
      this.#port.post(
        { id, value },
        value !== null && typeof value === 'object' && 'buffer' in value ? [value.buffer as ArrayBuffer] : [],
      );
    } catch (error) {
      const crashed = !(error instanceof KvasirError);
      const { code, message } = crashed ? crashError(error, this.#module?.HEAPU8.byteLength ?? 0) : error;
      this.#port.post({ id, code, message, crashed }, []);
    }
  }

  #handle(id: number, request: Request): Promise<Replies[keyof Replies]> | Replies[keyof Replies] {
    switch (request.type) {
      case 'load':
        return this.#load(id, request);
      case 'tokenize':
        return take(loaded(this.#model).tokenize(request.text, request.addBos, request.parseSpecial));
      case 'detokenize':
        return take(loaded(this.#model).detokenize(request.tokens, request.special));
      case 'logits':
        return take(this.#session(FIRST_SESSION).logits(request.tokens));
      case 'logProbabilities':
        return take(this.#session(FIRST_SESSION).logProbabilities(request.tokens));
      case 'generate':
        return this.#generate(id, request);
      case 'createSession':
        return this.#addSession(take(loaded(this.#model).createSession(request.options)));
      case 'restoreSession':
        return this.#addSession(take(loaded(this.#model).restoreSession(request.saved)));
      case 'forkSession':
        return this.#addSession(take(this.#session(request.session).fork()));
      case 'truncate':
        take(this.#session(request.session).truncate(request.length));
        return null;
      case 'sessionTokens':
        return this.#session(request.session).tokens();
      case 'saveSession':
        return take(this.#session(request.session).save());
      case 'measure':
        return take(this.#session(request.session).measure(request.test, request.tokens, request.depth));
      case 'closeSession':
        release(this.#session(request.session));
        this.#sessions.delete(request.session);
        return null;
      case 'memory':
        return this.#memory();
    }
  }

  async #load(id: number, request: LoadRequest): Promise<LoadReply> {
    const { variant, threads, session } = request;
    const report = this.#progressReporter(id);
    const module = await startModule(request);
    this.#module = module;
    const files: (OpenFile & { readonly name: string })[] = [];
    for (const [index, source] of request.files.entries()) {
      const file = await this.#open(id, index, source, request.files.length > 1, report);
      files.push({ ...file, name: source.name });
    }
    const model = await readModel(module, files, request, report);
    const info = JSON.parse(model.info()) as ModelInfo;
    this.#model = model;
    this.#info = info;
    if (info.vocabularyOnly || request.headersOnly)
      return { info, engine: { ...session, variant, threads, contextLength: 0 } };
    take(model.useThreads(threads));
    const first = this.#addSession(take(model.createSession(session)));
    return { info, engine: { ...first.info, variant, threads } };
  }

  #addSession(session: WasmSession): SessionReply {
    const number = this.#nextSession++;
    this.#sessions.set(number, session);
    return { session: number, info: session.options() };
  }

  #session(number: number): WasmSession {
    return loaded(this.#sessions.get(number));
  }

  async #open(
    id: number,
    index: number,
    source: FileSource,
    isSplit: boolean,
    report: (loadedBytes: number, totalBytes: number | undefined) => void,
  ): Promise<OpenFile> {
    const onUnsized = (loadedBytes: number): void => report(loadedBytes, undefined);
    switch (source.kind) {
      case 'url':
        return isSplit ? openUrlLater(source.url, onUnsized) : openUrl(source.url, onUnsized);
      case 'blob':
        return openBlob(source.blob);
      case 'path':
        return this.#port.openPath(source.path);
      case 'buffer':
        return { byteLength: source.byteLength, chunks: () => this.#pull(id, index, source.byteLength) };
    }
  }

  async *#pull(id: number, file: number, byteLength: number): AsyncIterable<Uint8Array> {
    for (let offset = 0; offset < byteLength; offset += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, byteLength - offset);
      yield await new Promise<Uint8Array>((resolve) => {
        this.#onChunk = resolve;
        this.#send(id, { type: 'pull', file, offset, length });
      });
    }
  }

  /** Tells of the first bytes, the last, and those between now and then. */
  #progressReporter(id: number): (loadedBytes: number, totalBytes: number | undefined) => void {
    let last = -Infinity;
    return (loadedBytes, totalBytes) => {
      const now = performance.now();
      if (loadedBytes !== totalBytes && now - last < PROGRESS_INTERVAL_MS) return;
      last = now;
      this.#send(id, { type: 'progress', loadedBytes, totalBytes });
    };
  }

  async #generate(id: number, { prompt, parseSpecial, options, ...request }: GenerateRequest): Promise<GenerateReply> {
    const session = this.#session(request.session);
    const tokens =
      typeof prompt === 'string' ? take(loaded(this.#model).tokenize(prompt, undefined, parseSpecial)) : prompt;
    const running = { id, aborted: false };
    this.#running = running;
    const generation = take(session.generate(tokens, options));
    try {
      for (;;) {
        if (running.aborted) generation.cancel();
        const { kind, text, token, finishReason } = take(generation.step());
        if (text !== '' || token !== undefined) this.#send(id, { type: 'piece', text, token });
        if (kind === 'done') return { finishReason: finishReason ?? 'abort', timings: generation.timings() };
        await this.#port.nextTask();
      }
    } finally {
      release(generation);
    }
  }

  #memory(): MemoryUsage {
    let kvCacheBytes = 0;
    for (const session of this.#sessions.values()) kvCacheBytes += session.kvCacheBytes();
    return {
      weightBytes: loaded(this.#info).weightBytes,
      kvCacheBytes,
      totalBytes: loaded(this.#module).memoryBytes(),
    };
  }

  #send(id: number, event: EngineEvent): void {
    this.#port.post({ id, event }, []);
  }
}

async function startModule({ moduleUrl, wasmUrl, threads }: LoadRequest): Promise<WasmModule> {
  // The address is data to bundlers: the glue code is not theirs to change.
  const glue = await readingFrom(
    moduleUrl,
    () => import(/* @vite-ignore */ /* webpackIgnore: true */ moduleUrl) as Promise<{ default: WasmModuleFactory }>,
  );
  try {
    return await glue.default({ locateFile: () => wasmUrl, pthreadPoolSize: threads - 1 });
  } catch (error) {
    // Memory that cannot be reserved is a RangeError.
    if (error instanceof RangeError) throw errorFromCode('OUT_OF_MEMORY', error.message);
    throw error;
  }
}

function loaded<T>(part: T | undefined): T {
  if (part === undefined) throw new KvasirError('INTERNAL', 'the engine has no model');
  return part;
}
