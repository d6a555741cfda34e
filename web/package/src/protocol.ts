/** The messages between a model and its engine, which runs in a worker. Internal. */
import type { BenchmarkTest, EngineInfo, MemoryUsage, ModelInfo, SessionInfo, Variant, Quantization } from './types.js';
import type { WasmGenerateOptions, WasmSessionOptions, WasmStep, WasmTimings } from './wasm-module.js';

/** Where the bytes of one file come from. `buffer`: the caller's memory, which the engine asks for with `pull`. */
export type FileSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'buffer'; readonly byteLength: number };

export interface LoadRequest {
  readonly type: 'load';
  /** `name`: that of a file in its folder, else ''. */
  readonly files: readonly (FileSource & { readonly name: string })[];
  readonly quantize: Quantization | undefined;
  /** What the files say of the model is all that is wanted. */
  readonly headersOnly: boolean;
  readonly variant: Variant;
  readonly threads: number;
  /** Of the session with the number {@link FIRST_SESSION}. */
  readonly session: WasmSessionOptions;
  /** The glue code and the binary of the variant. */
  readonly moduleUrl: string;
  readonly wasmUrl: string;
}

/** The number of the session that comes with the model. */
export const FIRST_SESSION = 0;

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

export interface LogProbabilitiesRequest {
  readonly type: 'logProbabilities';
  readonly tokens: Int32Array;
}

export interface GenerateRequest {
  readonly type: 'generate';
  readonly session: number;
  readonly prompt: string | Int32Array;
  readonly parseSpecial: boolean;
  readonly options: WasmGenerateOptions;
}

export interface GenerateReply {
  readonly finishReason: NonNullable<WasmStep['finishReason']>;
  readonly timings: WasmTimings;
}

export interface CreateSessionRequest {
  readonly type: 'createSession';
  readonly options: WasmSessionOptions;
}

export interface RestoreSessionRequest {
  readonly type: 'restoreSession';
  readonly saved: Uint8Array;
}

export interface ForkSessionRequest {
  readonly type: 'forkSession';
  readonly session: number;
}

/** The number of a new session. */
export interface SessionReply {
  readonly session: number;
  readonly info: SessionInfo;
}

export interface TruncateRequest {
  readonly type: 'truncate';
  readonly session: number;
  readonly length: number;
}

export interface SessionTokensRequest {
  readonly type: 'sessionTokens';
  readonly session: number;
}

export interface SaveSessionRequest {
  readonly type: 'saveSession';
  readonly session: number;
}

export interface MeasureRequest {
  readonly type: 'measure';
  readonly session: number;
  readonly test: BenchmarkTest;
  readonly tokens: number;
  readonly depth: number;
}

export interface CloseSessionRequest {
  readonly type: 'closeSession';
  readonly session: number;
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
  logProbabilities: Float32Array;
  generate: GenerateReply;
  createSession: SessionReply;
  restoreSession: SessionReply;
  forkSession: SessionReply;
  truncate: null;
  sessionTokens: Int32Array;
  saveSession: Uint8Array;
  measure: number;
  closeSession: null;
  memory: MemoryUsage;
}

export type Request =
  | LoadRequest
  | TokenizeRequest
  | DetokenizeRequest
  | LogitsRequest
  | LogProbabilitiesRequest
  | GenerateRequest
  | CreateSessionRequest
  | RestoreSessionRequest
  | ForkSessionRequest
  | TruncateRequest
  | SessionTokensRequest
  | SaveSessionRequest
  | MeasureRequest
  | CloseSessionRequest
  | MemoryRequest;

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
