/** The messages between a model and its engine, which runs in a worker. Internal. */
import type { EngineInfo, KvCacheType, MemoryUsage, ModelInfo, Variant } from './types.js';
import type { WasmGenerateOptions, WasmStep, WasmTimings } from './wasm-module.js';

/** Where the bytes of one file come from. `buffer`: the caller's memory, which the engine asks for with `pull`. */
export type FileSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'buffer'; readonly byteLength: number };

export interface LoadRequest {
  readonly type: 'load';
  readonly files: readonly FileSource[];
  readonly variant: Variant;
  readonly threads: number;
  readonly contextLength: number;
  readonly kvCache: KvCacheType;
  /** The glue code and the binary of the variant. */
  readonly moduleUrl: string;
  readonly wasmUrl: string;
}

export interface LoadReply {
  readonly info: ModelInfo;
  readonly engine: EngineInfo;
}

export interface TokenizeRequest {
  readonly type: 'tokenize';
  readonly text: string;
  readonly addBos: boolean | undefined;
  readonly parseSpecial: boolean;
}

export interface DetokenizeRequest {
  readonly type: 'detokenize';
  readonly tokens: Int32Array;
  readonly special: boolean;
}

export interface LogitsRequest {
  readonly type: 'logits';
  readonly tokens: Int32Array;
}

export interface GenerateRequest {
  readonly type: 'generate';
  readonly prompt: string | Int32Array;
  readonly parseSpecial: boolean;
  readonly options: WasmGenerateOptions;
}

export interface GenerateReply {
  readonly finishReason: NonNullable<WasmStep['finishReason']>;
  readonly timings: WasmTimings;
}

export interface MemoryRequest {
  readonly type: 'memory';
}

/** What each request is answered with. */
export interface Replies {
  load: LoadReply;
  tokenize: Int32Array;
  detokenize: string;
  logits: Float32Array;
  generate: GenerateReply;
  memory: MemoryUsage;
}

export type Request =
  LoadRequest | TokenizeRequest | DetokenizeRequest | LogitsRequest | GenerateRequest | MemoryRequest;

/** To the engine. `abort` names a load or a generation; `chunk` answers a `pull`. */
export type ToEngine =
  | { readonly id: number; readonly request: Request }
  | { readonly abort: number }
  | { readonly chunk: Uint8Array<ArrayBuffer> };

/** Sent while a request runs. */
export type EngineEvent =
  | { readonly type: 'progress'; readonly loadedBytes: number; readonly totalBytes: number | undefined }
  | { readonly type: 'pull'; readonly file: number; readonly offset: number; readonly length: number }
  | { readonly type: 'piece'; readonly text: string; readonly token: number | undefined };

/** From the engine. `crashed`: it can do nothing more. */
export type FromEngine =
  | { readonly id: number; readonly event: EngineEvent }
  | { readonly id: number; readonly value: Replies[keyof Replies] }
  | { readonly id: number; readonly code: string; readonly message: string; readonly crashed: boolean };
