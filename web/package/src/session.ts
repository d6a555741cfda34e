/// <reference lib="esnext.disposable" preserve="true" />
import type { EngineClient } from './engine-client.js';
import { KvasirError } from './errors.js';
import { Generation } from './generation.js';
import {
  checkBoolean,
  checkNumber,
  checkOptions,
  readBenchmarkOptions,
  readGenerateOptions,
  readTokens,
  wellFormed,
} from './options.js';
import type { Replies, Request, SessionReply } from './protocol.js';
import type { Turns } from './turns.js';
import type { BenchmarkOptions, BenchmarkResult, GenerateOptions, SessionInfo } from './types.js';

/** What sessions of one model share. Internal. */
export interface SessionHost {
  readonly client: EngineClient;
  /** Generations, and all that reads or changes a session, take turns. */
  readonly turns: Turns;
  readonly vocabularySize: number;
}

/** Runs a request when its turn has come. Internal. */
export async function callInTurn<T extends Request['type']>(
  { client, turns }: SessionHost,
  request: Extract<Request, { type: T }>,
): Promise<Replies[T]> {
  client.checkRunning();
  const turn = turns.enter();
  try {
    await turn.ready;
    return await client.call<T>(request).reply;
  } finally {
    turn.leave();
  }
}

/**
 * One text with a model: its tokens and what was computed for them, the KV cache. Sessions of one model share its
 * weights, and take turns.
 */
export class Session implements AsyncDisposable {
  readonly info: SessionInfo;
  readonly #host: SessionHost;
  readonly #number: number;
  #disposed = false;

  /** @internal */
  constructor(host: SessionHost, { session, info }: SessionReply) {
    this.#host = host;
    this.#number = session;
    this.info = info;
  }

  /**
   * Continues a prompt, as {@link Model.generate} does. The prompt is the whole text: as far as it begins like what the
   * session holds, nothing is computed again (`usage.reusedTokens`).
   */
  generate(prompt: string | readonly number[] | Int32Array, options: GenerateOptions = {}): Generation {
    this.#check();
    checkOptions(options);
    const { client, turns, vocabularySize } = this.#host;
    const request = {
      type: 'generate',
      session: this.#number,
      prompt: typeof prompt === 'string' ? wellFormed(prompt) : readTokens('prompt', prompt, vocabularySize),
      parseSpecial: checkBoolean('parseSpecial', options.parseSpecial) ?? false,
      options: readGenerateOptions(options, vocabularySize),
    } as const;
    return new Generation(client, turns, request, options.signal, () => this.#check());
  }

  /** The tokens that the session holds. The last one that a generation drew is not among them: nothing followed it. */
  async tokens(): Promise<number[]> {
    return Array.from(await this.#call({ type: 'sessionTokens', session: this.#number }));
  }

  /**
   * Keeps the first `length` tokens.
   *
   * @throws KvasirError `INVALID_ARGUMENT` when there are fewer, or when a window has forgotten what token `length`
   * would see.
   */
  async truncate(length: number): Promise<void> {
    checkNumber('length', length, { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true });
    await this.#call({ type: 'truncate', session: this.#number, length });
  }

  /** Forgets everything. */
  async clear(): Promise<void> {
    await this.truncate(0);
  }

  /** A session with the same content that goes its own way from here. */
  async fork(): Promise<Session> {
    return new Session(this.#host, await this.#call({ type: 'forkSession', session: this.#number }));
  }

  /**
   * The session as bytes, for {@link Model.restoreSession}: with the same model, in this engine or another, today or
   * later.
   */
  async save(): Promise<Uint8Array> {
    return this.#call({ type: 'saveSession', session: this.#number });
  }

  /**
   * How fast this session computes made-up tokens. What it held is gone afterwards, but for the tokens of a benchmark
   * before, which are not computed again when they are the context of this one.
   *
   * @throws KvasirError `CONTEXT_OVERFLOW` when the tokens do not fit.
   */
  async benchmark(options: BenchmarkOptions): Promise<BenchmarkResult> {
    checkOptions(options);
    const { test, tokens, depth } = readBenchmarkOptions(options);
    const milliseconds = await this.#call({ type: 'measure', session: this.#number, test, tokens, depth });
    return { milliseconds, tokensPerSecond: (tokens * 1000) / milliseconds };
  }

  /** Frees the session's memory. What is asked of it before still runs, what is asked later fails with `DISPOSED`. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    const closed = this.#call({ type: 'closeSession', session: this.#number });
    this.#disposed = true;
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #call<T extends Request['type']>(request: Extract<Request, { type: T }>): Promise<Replies[T]> {
    this.#check();
    return callInTurn<T>(this.#host, request);
  }

  #check(): void {
    this.#host.client.checkRunning();
    if (this.#disposed) throw new KvasirError('DISPOSED', 'the session was disposed of');
  }
}
