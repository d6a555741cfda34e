/** First come, first served. Internal. */
import { deferred } from './deferred.js';

export interface Turn {
  /** Resolves when all before have left. */
  readonly ready: Promise<void>;
  /** Lets the next one in; may come before `ready` (who gives up waiting). */
  leave(): void;
}

export class Turns {
  #last: Promise<void> = Promise.resolve();

  enter(): Turn {
    const ready = this.#last;
    const { promise: left, resolve: leave } = deferred();
    this.#last = ready.then(() => left);
    return { ready, leave };
  }
}
