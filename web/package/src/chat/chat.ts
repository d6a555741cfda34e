/// <reference lib="esnext.disposable" preserve="true" />
import { invalidArgument, KvasirError } from '../errors.js';
import type { Generation } from '../generation.js';
import type { Session } from '../session.js';
import type { ChatMessage, ChatOptions, ChatTemplateOptions, GenerateOptions } from '../types.js';
import { Answer } from './answer.js';

/** What a chat needs of its model. Internal. */
export interface ChatHost {
  createSession(): Promise<Session>;
  render(messages: readonly ChatMessage[], options: ChatTemplateOptions): Promise<string>;
  /** With special tokens read as such, and BOS once. */
  tokenize(rendered: string): Promise<number[]>;
}

/**
 * A conversation. Each {@link Chat.send} renders all of it by the model's template; what the session holds of it already
 * is not computed again.
 */
export class Chat implements AsyncDisposable {
  readonly #host: ChatHost;
  readonly #template: ChatTemplateOptions;
  readonly #options: GenerateOptions;
  #messages: readonly ChatMessage[];
  #session: Promise<Session> | undefined;
  /** Resolves when nothing runs. */
  #idle: Promise<unknown> = Promise.resolve();
  /** Counts the resets. */
  #epoch = 0;
  #disposed = false;

  /** @internal */
  constructor(
    host: ChatHost,
    { system, messages = [], tools, documents, template, variables, ...options }: ChatOptions,
  ) {
    this.#host = host;
    this.#template = { tools, documents, template, variables };
    this.#options = options;
    const first: readonly ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
    this.#messages = [...first, ...checkMessages('messages', messages)];
  }

  /** What was said, the system prompt first. */
  get messages(): readonly ChatMessage[] {
    return this.#messages;
  }

  /**
   * Says something and streams the answer. When it is finished both become part of {@link Chat.messages}: an answer that
   * was aborted as far as it came; one that failed, or of which nothing came, not at all, nor what it was to answer.
   * Answers come one after the other.
   *
   * @param message The user's text, or a message of any role, or several: what tools returned.
   * @param options What is not said is as in `createChat`.
   */
  send(message: string | ChatMessage | readonly ChatMessage[], options: GenerateOptions = {}): Answer {
    this.#check();
    const said = asMessages(message);
    return this.#answer(() => this.#messages, said, options);
  }

  /** Answers the last message anew: the last answer is forgotten once the new one is finished. */
  regenerate(options: GenerateOptions = {}): Answer {
    this.#check();
    this.#question();
    return this.#answer(() => this.#question(), [], options);
  }

  /** Forgets what was said, but for the system prompt. An answer that is still to come is not remembered. */
  reset(): void {
    this.#epoch += 1;
    this.#messages = this.#messages[0]?.role === 'system' ? this.#messages.slice(0, 1) : [];
  }

  /** Frees the session, after the answer that runs. What waits fails with `DISPOSED`. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    const session = await this.#session?.catch(() => undefined);
    await session?.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  #answer(before: () => readonly ChatMessage[], said: readonly ChatMessage[], options: GenerateOptions): Answer {
    let asked: readonly ChatMessage[] = [];
    const epoch = this.#epoch;
    const start = async (): Promise<Generation> => {
      const earlier = this.#idle;
      const mine = (async () => {
        await earlier;
        this.#check();
        asked = [...before(), ...said];
        const tokens = await this.#host.tokenize(await this.#host.render(asked, this.#template));
        return (await this.#openSession()).generate(tokens, { ...this.#options, ...options });
      })();
      this.#idle = mine.then(() => answer.result()).catch(() => undefined);
      return mine;
    };
    const answer = new Answer(start, ({ text, finishReason }) => {
      if (epoch !== this.#epoch || (finishReason === 'abort' && text === '')) return;
      this.#messages = [...asked, { role: 'assistant', content: text }];
    });
    return answer;
  }

  #openSession(): Promise<Session> {
    // Disposed of while the prompt was made: nobody would free it.
    this.#check();
    if (this.#session === undefined) {
      const opening = this.#host.createSession();
      this.#session = opening;
      // The next answer may find memory for it.
      opening.catch(() => (this.#session = undefined));
    }
    return this.#session;
  }

  /** All before the last answer. */
  #question(): readonly ChatMessage[] {
    if (this.#messages.at(-1)?.role === 'assistant') return this.#messages.slice(0, -1);
    throw new KvasirError('INVALID_ARGUMENT', 'there is no answer to give anew');
  }

  #check(): void {
    if (this.#disposed) throw new KvasirError('DISPOSED', 'the chat was disposed of');
  }
}

function asMessages(message: string | ChatMessage | readonly ChatMessage[]): readonly ChatMessage[] {
  if (typeof message === 'string') return [{ role: 'user', content: message }];
  return checkMessages('message', Array.isArray(message) ? message : [message]);
}

/** Each is an object with a role. */
export function checkMessages(name: string, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (!Array.isArray(messages)) throw invalidArgument(name, 'an array of messages', messages);
  for (const message of messages as readonly ChatMessage[]) {
    if (typeof message !== 'object' || message === null || typeof message.role !== 'string') {
      throw invalidArgument(name, 'messages with a role, as { role: "user", content: "Hello" }', message);
    }
  }
  return messages;
}
