/** The bindings of the WebAssembly module (wasm/bindings.cc), typed. Internal. */
import type { BenchmarkTest, KvCacheType, Quantization } from './types.js';

/** What a fallible call gives: a value, or a stable error code and a message. */
export type Outcome<T> = { readonly value: T } | { readonly code: string; readonly message: string };

/** A file that is to be read: its name in its folder, else ''. */
export interface WasmFile {
  readonly name: string;
  readonly bytes: number;
}

/** Reads a model file as its bytes arrive. Embind object: `delete()` frees it. */
export interface WasmLoader {
  /**
   * The files in their order. `quantize` is '' for none. Once, before anything else.
   */
  begin(files: readonly WasmFile[], quantize: Quantization | '', headersOnly: boolean): Outcome<undefined>;
  /** A window of `bytes` (at most 64 MiB) in WebAssembly memory for the next bytes. Valid until the next call into the module. */
  window(bytes: number): Outcome<Uint8Array>;
  /** The first `count` bytes of the window are the file's next ones. Never across two files. */
  append(count: number): Outcome<undefined>;
  /** All bytes were appended. The loader is spent. */
  finish(): Outcome<WasmModel>;
  delete(): void;
}

/** Immutable weights and vocabulary. */
export interface WasmModel {
  /**
   * JSON: { name, license, chatTemplate: string | null, vocabularySize, bosToken, eosToken: number | null, addsBos,
   * vocabularyOnly: boolean, architecture: string | null, contextLength: number | null,
   * shape: { layers, dim, heads, kvHeads, headDim, ffnDim } | null, parameters, weightBytes,
   * tensors: { type, tensors, parameters, bytes }[] }
   */
  info(): string;
  /** `addBos` undefined: as the vocabulary says. */
  tokenize(text: string, addBos: boolean | undefined, parseSpecial: boolean): Outcome<Int32Array>;
  detokenize(ids: Int32Array, special: boolean): Outcome<string>;
  /** Once, before the first session: threads that compute, this one included. */
  useThreads(threads: number): Outcome<undefined>;
  createSession(options: WasmSessionOptions): Outcome<WasmSession>;
  /** From what {@link WasmSession.save} gave. */
  restoreSession(saved: Uint8Array): Outcome<WasmSession>;
  delete(): void;
}

export interface WasmSessionOptions {
  /** Tokens that fit; 0: the model's own limit (at most 4096). */
  readonly contextLength: number;
  readonly kvCache: KvCacheType;
  /** 0: every token sees all before it. */
  readonly window: number;
  readonly sink: number;
}

/** KV caches, position. One per conversation. Delete generations before it, and it before its model. */
export interface WasmSession {
  /** With the context length that was chosen. */
  options(): WasmSessionOptions;
  kvCacheBytes(): number;
  /** The tokens whose keys and values are cached, or have left the window. */
  tokens(): Int32Array;
  /** Keeps the first `length` tokens. */
  truncate(length: number): Outcome<undefined>;
  /** A session with the same content and a life of its own. */
  fork(): Outcome<WasmSession>;
  save(): Outcome<Uint8Array>;
  /** Runs `tokens` from an empty cache; rows of [tokens, vocab] logits, row-major. */
  logits(tokens: Int32Array): Outcome<Float32Array>;
  /** Runs `tokens` from an empty cache; of each but the first, the logarithm of its probability after those before it. */
  logProbabilities(tokens: Int32Array): Outcome<Float32Array>;
  /** Milliseconds that `tokens` made-up tokens take after `depth` others. */
  measure(test: BenchmarkTest, tokens: number, depth: number): Outcome<number>;
  /** Begins a generation, keeping what the session and the prompt have in common. Nothing is computed yet. */
  generate(prompt: Int32Array, options: WasmGenerateOptions): Outcome<WasmGeneration>;
  delete(): void;
}

export interface WasmGenerateOptions {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly penaltyWindow: number;
  /** Pairs [id, bias]. */
  readonly logitBias: readonly (readonly [number, number])[];
  /** A whole number in 0..2^53-1. */
  readonly seed: number;
  readonly stop: readonly string[];
  readonly ignoreEos: boolean;
  /** Tokens kept at the front when the context is full; undefined: the generation ends. */
  readonly shiftKeep: number | undefined;
}

export interface WasmGeneration {
  /** Runs one prefill chunk, or decodes one token. */
  step(): Outcome<WasmStep>;
  /** Ends the generation now (abort): held-back text is in the next step, which is done. */
  cancel(): void;
  /** After the last step. */
  timings(): WasmTimings;
  delete(): void;
}

export interface WasmStep {
  /** 'prefill': more steps follow, no token yet. 'token': a token was drawn. 'done': the end, with the last text. */
  readonly kind: 'prefill' | 'token' | 'done';
  /** Text that became whole; may be empty while a code point or stop string is incomplete. */
  readonly text: string;
  /** Token ids that this step drew (none or one). */
  readonly token: number | undefined;
  /** Prompt tokens computed so far (prefill). */
  readonly promptTokens: number;
  readonly finishReason: 'eos' | 'length' | 'stop' | 'abort' | 'context' | undefined;
}

export interface WasmTimings {
  readonly promptTokens: number;
  /** Of the prompt, in the cache already. */
  readonly reusedTokens: number;
  /** Computed in {@link prefillMs}. */
  readonly prefillTokens: number;
  readonly completionTokens: number;
  /** Milliseconds from the first step to the first token drawn. */
  readonly timeToFirstTokenMs: number;
  readonly prefillMs: number;
  /** Of the completion tokens after the first. */
  readonly decodeMs: number;
}

export interface WasmModule {
  readonly HEAPU8: Uint8Array;
  readonly Loader: new () => WasmLoader;
  /** Bytes of WebAssembly memory now. */
  memoryBytes(): number;
}

/** Options of the module's factory (the default export of kvasir-*.mjs). */
export interface WasmModuleOptions {
  readonly wasmBinary?: ArrayBuffer | Uint8Array;
  readonly locateFile?: (path: string) => string;
  readonly mainScriptUrlOrBlob?: string | Blob;
  /** Worker threads to start beside the caller's; at least threads - 1. */
  readonly pthreadPoolSize?: number;
}

export type WasmModuleFactory = (options: WasmModuleOptions) => Promise<WasmModule>;
