/** The public options and results. */

/** A build of the engine: SIMD alone (`st`), with threads (`mt`), with relaxed SIMD (`relaxed`, `relaxed-st`). */
export type Variant = 'st' | 'mt' | 'relaxed' | 'relaxed-st';

/** How the keys and values of the context are stored: exact, in half the memory, or in little more than a quarter. */
export type KvCacheType = 'f32' | 'f16' | 'i8';

/** One file: a URL, a `File` or `Blob`, its bytes, or (in Node) a path. */
export type ModelFile = string | URL | Blob | ArrayBuffer | Uint8Array;

/** What weights of 16 or 32 bits become while they are loaded: 8.5 or 4.5 bits each. */
export type Quantization = 'q8_0' | 'q4_0';

/**
 * A model file, the files of a split model in their order, or a Hugging Face folder with safetensors: its path (in
 * Node), its URL with a slash at the end, or its files, which are told by their names.
 */
export type ModelSource = ModelFile | readonly ModelFile[];

export interface LoadProgress {
  readonly loadedBytes: number;
  /** Undefined while a server does not say. */
  readonly totalBytes: number | undefined;
}

/** What a session can hold and see. */
export interface SessionOptions {
  /** Tokens that fit, prompt and answer together. Default: what the model was trained on, at most 4096. */
  readonly contextLength?: number | undefined;
  /** Default `'f16'`. */
  readonly kvCache?: KvCacheType | undefined;
  /**
   * Each token sees the last `window` tokens and the first {@link sink} only: memory stays the same however long the
   * text, which never fills the context. Default 0: each token sees all before it.
   */
  readonly window?: number | undefined;
  /** First tokens that stay in sight of a {@link window}; a few keep a model stable. Default: 4, 0 without a window. */
  readonly sink?: number | undefined;
}

export interface LoadOptions extends SessionOptions {
  /** Called as bytes arrive, a few times a second, and when all have. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Ends the load with an `ABORTED` error. */
  readonly signal?: AbortSignal | undefined;
  /** Threads that compute. Default: an estimate of the physical cores, at most 8; 1 in a variant without threads. */
  readonly threads?: number | undefined;
  /** Quantizes the matrices of a folder with safetensors as they come. Default: they stay as they are. */
  readonly quantize?: Quantization | undefined;
  /** Default `'auto'`: the fastest that this engine supports. */
  readonly variant?: Variant | 'auto' | undefined;
}

export interface GenerateOptions {
  /** Tokens to draw at most. Default 256. */
  readonly maxTokens?: number | undefined;
  /** Default 0.8. 0 takes the likeliest token always. */
  readonly temperature?: number | undefined;
  /** Draw from this many likeliest tokens. Default 40; 0: all. */
  readonly topK?: number | undefined;
  /** Draw from the likeliest tokens that make up this probability, in (0, 1]. Default 0.95; 1: all. */
  readonly topP?: number | undefined;
  /** Draw no token less likely than this part of the likeliest, in [0, 1]. Default 0.05; 0: off. */
  readonly minP?: number | undefined;
  /** Divides the logits of recent tokens; above 1 discourages them. Default 1: off. */
  readonly repetitionPenalty?: number | undefined;
  /** Taken from a token's logit for each recent occurrence. Default 0. */
  readonly frequencyPenalty?: number | undefined;
  /** Taken from a token's logit once when it occurred recently. Default 0. */
  readonly presencePenalty?: number | undefined;
  /** How many of the last tokens are recent for the three penalties. Default 64; -1: all. */
  readonly penaltyWindow?: number | undefined;
  /** Added to the logits of token ids; -Infinity forbids one. */
  readonly logitBias?: Readonly<Record<number, number>> | ReadonlyMap<number, number> | undefined;
  /** A whole number in 0..2^53-1: same seed, text and variant, same tokens. Default: random, see {@link GenerateResult.seed}. */
  readonly seed?: number | undefined;
  /** The text ends before the first of these. */
  readonly stop?: string | readonly string[] | undefined;
  /** Go on after the model ended its text. Default false. */
  readonly ignoreEos?: boolean | undefined;
  /**
   * When the context is full, forget the older half of it instead of ending: `keep` tokens at its front (default 4) and
   * the later half of the others stay. They are computed anew, which takes a moment. Default false.
   */
  readonly contextShift?: boolean | { readonly keep?: number | undefined } | undefined;
  /** Read the spelling of special tokens in a text prompt as these tokens. Default false. */
  readonly parseSpecial?: boolean | undefined;
  /** Ends the generation with finishReason `'abort'`, within one token or one prefill chunk. */
  readonly signal?: AbortSignal | undefined;
}

/** Text as it becomes whole: never half a code point, never the beginning of a stop string. */
export interface Piece {
  /** Not empty. */
  readonly text: string;
  /** The ids drawn since the last piece; one as a rule. */
  readonly tokens: readonly number[];
}

/**
 * Why a generation ended: the model ended its text, `maxTokens` were drawn, a stop string came, the caller ended it,
 * or the context is full.
 */
export type FinishReason = 'eos' | 'length' | 'stop' | 'abort' | 'context';

export interface GenerateResult {
  /** All pieces in one. */
  readonly text: string;
  /** All ids that were drawn, without an ending EOS. */
  readonly tokens: readonly number[];
  readonly finishReason: FinishReason;
  /** The seed that was used. */
  readonly seed: number;
  readonly usage: {
    readonly promptTokens: number;
    /** Of the prompt, which the session had computed before. */
    readonly reusedTokens: number;
    readonly completionTokens: number;
  };
  readonly timings: {
    /** From the start of the prefill to the first token. */
    readonly timeToFirstTokenMs: number;
    /** Of the tokens that were not reused; 0 where nothing was computed. */
    readonly prefillTokensPerSecond: number;
    /** Of the tokens after the first; 0 where there are none. */
    readonly decodeTokensPerSecond: number;
  };
}

export interface TokenizeOptions {
  /** Put the BOS token first. Default: as the model file says. */
  readonly addBos?: boolean | undefined;
  /** Read the spelling of special tokens in the text as these tokens. Default false. */
  readonly parseSpecial?: boolean | undefined;
}

export interface DetokenizeOptions {
  /** Write special tokens out instead of leaving them away. Default false. */
  readonly special?: boolean | undefined;
}

/** What a model file says of itself. */
export interface ModelInfo {
  readonly name: string | null;
  readonly license: string | null;
  /** The template that turns a chat into a prompt (Jinja). */
  readonly chatTemplate: string | null;
  readonly vocabularySize: number;
  /** Its kind, for a person. */
  readonly vocabulary: string | null;
  readonly bosToken: number | null;
  readonly eosToken: number | null;
  readonly addsBos: boolean;
  /** The tokens that end a generation. */
  readonly endTokens: readonly { readonly id: number; readonly text: string }[];
  /** The file has no weights: it can tokenize, not generate. */
  readonly vocabularyOnly: boolean;
  /** Null for a vocabulary-only file, like all that is null below. */
  readonly architecture: string | null;
  /** Tokens that the model was trained on. */
  readonly contextLength: number | null;
  readonly shape: {
    readonly layers: number;
    readonly dim: number;
    readonly heads: number;
    readonly kvHeads: number;
    readonly headDim: number;
    readonly ffnDim: number;
  } | null;
  /** What a token takes in the KV caches of all layers, by their type. */
  readonly kvCacheBytesPerToken: Readonly<Record<KvCacheType, number>> | null;
  /** Why the model cannot run here; only from `inspectModel`. */
  readonly problem: string | null;
  readonly parameters: number;
  readonly weightBytes: number;
  /** The weights by the type they are stored in. */
  readonly tensors: readonly {
    readonly type: string;
    readonly tensors: number;
    readonly parameters: number;
    readonly bytes: number;
  }[];
}

/** A message of a chat; templates know more keys than these, such as `tool_calls`. */
export interface ChatMessage {
  /** `'system'`, `'user'`, `'assistant'`, `'tool'` or what else the template knows. */
  readonly role: string;
  readonly content?: unknown;
  readonly [key: string]: unknown;
}

export interface ChatTemplateOptions {
  /** A Jinja template. Default: the model file's own. */
  readonly template?: string | undefined;
  /** Functions that the model may call, as JSON schemas. */
  readonly tools?: readonly unknown[] | undefined;
  /** Texts to answer from, for templates that take them. */
  readonly documents?: readonly unknown[] | undefined;
  /** End with the beginning of an answer. Default true. */
  readonly addGenerationPrompt?: boolean | undefined;
  /** End within the last message, so that the model goes on with it. Default false. */
  readonly continueFinalMessage?: boolean | undefined;
  /** More that the template may read, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** A chat in place of a prompt. */
export interface ChatPrompt extends ChatTemplateOptions {
  readonly messages: readonly ChatMessage[];
}

export interface ChatOptions
  extends GenerateOptions, Pick<ChatTemplateOptions, 'template' | 'tools' | 'documents' | 'variables'> {
  /** The system prompt. */
  readonly system?: string | undefined;
  /** What was said already. */
  readonly messages?: readonly ChatMessage[] | undefined;
}

/** What `inspectModel` tells: {@link ModelInfo}, and whether the model can run here. */
export interface ModelInspection extends ModelInfo {
  /** What it would run in. */
  readonly variant: Variant;
  readonly threads: number;
  /** Null for a vocabulary-only file and for a model that this build does not know. */
  readonly memory: {
    /** The context that was asked for, else the model's own, at most 4096 tokens. */
    readonly contextLength: number;
    /** About what weights, the KV cache of this type and the engine take together, in bytes. */
    readonly totalBytes: Readonly<Record<KvCacheType, number>>;
    /** What WebAssembly can address. */
    readonly limitBytes: number;
  } | null;
}

/** A session's options, with what was chosen where nothing was said. */
export interface SessionInfo {
  /** Tokens that fit, prompt and answer together; with a window, what it and the sink had to fit into. */
  readonly contextLength: number;
  readonly kvCache: KvCacheType;
  /** 0: each token sees all before it. */
  readonly window: number;
  readonly sink: number;
}

/** How a model was loaded. Without weights, the context length is 0. */
export interface EngineInfo extends SessionInfo {
  readonly variant: Variant;
  readonly threads: number;
}

/** `prefill`: the tokens of a prompt, in chunks. `decode`: one after the other, with the logits of each. */
export type BenchmarkTest = 'prefill' | 'decode';

export interface BenchmarkOptions {
  readonly test: BenchmarkTest;
  /** How many tokens to time, at least 1. */
  readonly tokens: number;
  /** Tokens in the context before them. Default 0. */
  readonly depth?: number | undefined;
}

export interface BenchmarkResult {
  readonly milliseconds: number;
  readonly tokensPerSecond: number;
}

export interface MemoryUsage {
  readonly weightBytes: number;
  /** Of all sessions. */
  readonly kvCacheBytes: number;
  /** The whole WebAssembly memory, the other two included. */
  readonly totalBytes: number;
}
