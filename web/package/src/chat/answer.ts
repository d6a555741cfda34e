import type { Generation } from '../generation.js';
import type { GenerateResult, Piece } from '../types.js';

/**
 * A model's answer to a chat: iterate over its pieces as they come, or ask for the whole, as with a {@link Generation}.
 *
 * It starts with the first of both. Leaving the loop early ends it.
 */
export class Answer implements AsyncIterable<Piece> {
  readonly #start: () => Promise<Generation>;
  readonly #onResult: ((result: GenerateResult) => void) | undefined;
  #generation: Promise<Generation> | undefined;
  #result: Promise<GenerateResult> | undefined;

  /** @internal */
  constructor(start: () => Promise<Generation>, onResult?: (result: GenerateResult) => void) {
    this.#start = start;
    this.#onResult = onResult;
  }

  /** The whole, when it is finished, whether or not somebody iterates. */
  result(): Promise<GenerateResult> {
    if (this.#result === undefined) {
      this.#result = this.#finish();
      // Who only iterates hears of a failure from the iterator.
      this.#result.catch(() => undefined);
    }
    return this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Piece, undefined> {
    const whole = this.result();
    try {
      yield* await this.#generating();
    } finally {
      // The chat goes on with what was said until here.
      await whole;
    }
  }

  async #finish(): Promise<GenerateResult> {
    const generation = await this.#generating();
    const result = await generation.result();
    this.#onResult?.(result);
    return result;
  }

  #generating(): Promise<Generation> {
    this.#generation ??= this.#start();
    return this.#generation;
  }
}
