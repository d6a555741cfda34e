/** The caller's end of the engine: requests out, replies and events in. Internal. */
import { errorFromCode, KvasirError } from './errors.js';
import type { EngineWorker } from './platform.js';
import type { EngineEvent, FromEngine, Replies, Request } from './protocol.js';

interface Pending {
  resolve(value: Replies[keyof Replies]): void;
  reject(error: unknown): void;
  onEvent(event: EngineEvent): void;
}

export interface Call<Reply> {
  readonly id: number;
  readonly reply: Promise<Reply>;
}

export class EngineClient {
  readonly #worker: EngineWorker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #end: { readonly error: KvasirError; readonly terminated: Promise<void> } | undefined;

  constructor(worker: EngineWorker) {
    this.#worker = worker;
    worker.listen(
      (message) => this.#receive(message),
      (reason) => void this.#stop(new KvasirError('INTERNAL', `the engine crashed: ${reason}; load the model again`)),
    );
    worker.setBusy(false);
  }

  /** Throws why the engine takes no more requests, if it does not. */
  checkRunning(): void {
    if (this.#end !== undefined) throw this.#end.error;
  }

  call<T extends Request['type']>(
    request: Extract<Request, { type: T }>,
    onEvent: (event: EngineEvent) => void = () => undefined,
  ): Call<Replies[T]> {
    const id = this.#nextId++;
    const reply = new Promise<Replies[T]>((resolve, reject) => {
      this.checkRunning();
      // The engine answers a request of type T with Replies[T].
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, onEvent });
      this.#worker.setBusy(true);
      this.#worker.post({ id, request }, []);
    });
    return { id, reply };
  }

  abort(id: number): void {
    if (this.#pending.has(id)) this.#worker.post({ abort: id }, []);
  }

  /** Answers a `pull`. The chunk's memory goes to the engine. */
  sendChunk(chunk: Uint8Array<ArrayBuffer>): void {
    if (this.#end === undefined) this.#worker.post({ chunk }, [chunk.buffer]);
  }

  /** Ends the engine; what is pending fails with `error`. The first call counts. */
  async stop(error: KvasirError): Promise<void> {
    await this.#stop(error);
  }

  #stop(error: KvasirError): Promise<void> {
    if (this.#end === undefined) {
      this.#end = { error, terminated: this.#worker.terminate() };
      for (const pending of this.#pending.values()) pending.reject(error);
      this.#pending.clear();
    }
    return this.#end.terminated;
  }

  #receive(message: FromEngine): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if ('event' in message) {
      try {
        pending.onEvent(message.event);
      } catch (error) {
        // The caller's own callback threw: that is what the call fails with.
        this.#settle(message.id);
        pending.reject(error);
      }
      return;
    }
    if ('value' in message) {
      this.#settle(message.id);
      pending.resolve(message.value);
      return;
    }
    const error = errorFromCode(message.code, message.message);
    if (message.crashed) void this.#stop(error);
    else {
      this.#settle(message.id);
      pending.reject(error);
    }
  }

  #settle(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.setBusy(false);
  }
}
