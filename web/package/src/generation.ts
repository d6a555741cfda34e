import { deferred } from './deferred.js';
import type { EngineClient } from './engine-client.js';
import type { GenerateReply, GenerateRequest } from './protocol.js';
import type { Turns } from './turns.js';
import type { GenerateResult, Piece } from './types.js';

/**
 * A text being generated: iterate over its pieces as they come, or ask for the whole.
 *
 * It starts with the first of both. Leaving the loop early ends it. Pieces wait for a slow reader.
 */
export class Generation implements AsyncIterable<Piece> {
  readonly #engine: EngineClient;
  readonly #turns: Turns;
  readonly #request: GenerateRequest;
  readonly #checkSession: () => void;
  readonly #signal: AbortSignal | undefined;

  readonly #ended = new AbortController();
  readonly #pieces: Piece[] = [];
  #text = '';
  readonly #tokens: number[] = [];
  #tokensOfPiece: number[] = [];
  #finished = false;
  /** Resolves when there is a piece more, or the end. */
  #news = deferred();
  #result: Promise<GenerateResult> | undefined;

  /** @internal */
  constructor(
    engine: EngineClient,
    turns: Turns,
    request: GenerateRequest,
    signal: AbortSignal | undefined,
    checkSession: () => void,
  ) {
    this.#engine = engine;
    this.#turns = turns;
    this.#request = request;
    this.#signal = signal;
    this.#checkSession = checkSession;
  }

  /** The whole, when it is finished, whether or not somebody iterates. */
  result(): Promise<GenerateResult> {
    if (this.#result === undefined) {
      this.#result = this.#run();
      // Who only iterates hears of a failure from the iterator.
      this.#result.catch(() => undefined);
    }
    return this.#result;
  }

  /** The pieces from the first one that was not read yet. */
  [Symbol.asyncIterator](): AsyncIterator<Piece, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        // The reader does not wait for the engine to hear of it.
        void this.result();
        this.#ended.abort();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<Piece, undefined>> {
    const result = this.result();
    while (this.#pieces.length === 0 && !this.#finished) await this.#news.promise;
    const value = this.#pieces.shift();
    if (value !== undefined) return { done: false, value };
    if (this.#finished) await result;
    return { done: true, value: undefined };
  }

  async #run(): Promise<GenerateResult> {
    const end = (): void => this.#ended.abort();
    const turn = this.#turns.enter();
    if (this.#signal?.aborted) end();
    this.#signal?.addEventListener('abort', end);
    try {
      // What was disposed of before the turn was taken is not there any more.
      this.#checkSession();
      await Promise.race([turn.ready, aborted(this.#ended.signal)]);
      return this.#toResult(this.#ended.signal.aborted ? NOTHING : await this.#generate());
    } finally {
      this.#signal?.removeEventListener('abort', end);
      turn.leave();
      this.#finished = true;
      this.#tellReader();
    }
  }

  async #generate(): Promise<GenerateReply> {
    const { id, reply } = this.#engine.call(this.#request, (event) => {
      if (event.type === 'piece') this.#add(event.text, event.token);
    });
    const abort = (): void => this.#engine.abort(id);
    this.#ended.signal.addEventListener('abort', abort);
    try {
      return await reply;
    } finally {
      this.#ended.signal.removeEventListener('abort', abort);
    }
  }

  #add(text: string, token: number | undefined): void {
    if (token !== undefined) {
      this.#tokens.push(token);
      this.#tokensOfPiece.push(token);
    }
    if (text === '') return;
    this.#text += text;
    this.#pieces.push({ text, tokens: this.#tokensOfPiece });
    this.#tokensOfPiece = [];
    this.#tellReader();
  }

  #tellReader(): void {
    this.#news.resolve();
    this.#news = deferred();
  }

  #toResult({ finishReason, timings }: GenerateReply): GenerateResult {
    const { promptTokens, reusedTokens, prefillTokens, completionTokens, timeToFirstTokenMs, prefillMs, decodeMs } =
      timings;
    return {
      text: this.#text,
      tokens: this.#tokens,
      finishReason,
      seed: this.#request.options.seed,
      usage: { promptTokens, reusedTokens, completionTokens },
      timings: {
        timeToFirstTokenMs,
        prefillTokensPerSecond: rate(prefillTokens, prefillMs),
        decodeTokensPerSecond: rate(completionTokens - 1, decodeMs),
      },
    };
  }
}

/** What is left of a generation that was ended before its turn. */
const NOTHING: GenerateReply = {
  finishReason: 'abort',
  timings: {
    promptTokens: 0,
    reusedTokens: 0,
    prefillTokens: 0,
    completionTokens: 0,
    timeToFirstTokenMs: 0,
    prefillMs: 0,
    decodeMs: 0,
  },
};

function rate(count: number, milliseconds: number): number {
  return milliseconds > 0 && count > 0 ? (count / milliseconds) * 1000 : 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
