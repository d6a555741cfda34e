/// <reference lib="esnext.disposable" preserve="true" />
import { Answer } from './chat/answer.js';
import { Chat, checkMessages } from './chat/chat.js';
import { renderChat } from './chat/template.js';
import type { EngineClient } from './engine-client.js';
import { invalidArgument, KvasirError } from './errors.js';
import type { Generation } from './generation.js';
import {
  checkBoolean,
  checkOptions,
  checkText,
  readGenerateOptions,
  readSessionOptions,
  readTokens,
} from './options.js';
import { FIRST_SESSION } from './protocol.js';
import { callInTurn, Session, type SessionHost } from './session.js';
import { Turns } from './turns.js';
import type {
  ChatMessage,
  ChatOptions,
  ChatPrompt,
  ChatTemplateOptions,
  DetokenizeOptions,
  EngineInfo,
  GenerateOptions,
  MemoryUsage,
  ModelInfo,
  SessionOptions,
  TokenizeOptions,
} from './types.js';

/** A loaded model. Its engine runs in a worker of its own until {@link Model.dispose}. */
export class Model implements AsyncDisposable {
  /** What the model file says of itself. */
  readonly info: ModelInfo;
  /** How the model was loaded. */
  readonly engine: EngineInfo;
  readonly #host: SessionHost;
  readonly #firstSession: Session;

  /** @internal */
  constructor(client: EngineClient, info: ModelInfo, engine: EngineInfo) {
    this.#host = { client, turns: new Turns(), vocabularySize: info.vocabularySize };
    this.#firstSession = new Session(this.#host, { session: FIRST_SESSION, info: engine });
    this.info = info;
    this.engine = engine;
  }

  /**
   * Continues a prompt: a text, which gets a BOS token where the model file says so, or token ids as they are.
   * Generations of one model run one after the other, in the order they are started.
   *
   * As far as the prompt begins like the one before, nothing is computed again.
   *
   * @throws KvasirError `INVALID_ARGUMENT` naming the option, at once; what goes wrong later comes out of the iterator
   * and `result()`, such as `CONTEXT_OVERFLOW`.
   */
  generate(prompt: string | readonly number[] | Int32Array, options?: GenerateOptions): Generation;
  /**
   * Answers a chat, which becomes a prompt by the template of the model file or one that is given, as in
   * {@link Model.applyChatTemplate}.
   *
   * @throws KvasirError as above; `INVALID_ARGUMENT` at once when there is no template.
   */
  generate(prompt: ChatPrompt, options?: GenerateOptions): Answer;
  generate(
    prompt: string | readonly number[] | Int32Array | ChatPrompt,
    options: GenerateOptions = {},
  ): Generation | Answer {
    this.#host.client.checkRunning();
    this.#checkWeights();
    if (!isChat(prompt)) return this.#firstSession.generate(prompt, options);
    checkOptions(options);
    readGenerateOptions(options, this.info.vocabularySize);
    const { messages, ...how } = prompt;
    this.#template(how.template);
    checkMessages('messages', messages);
    return new Answer(async () => {
      const tokens = await this.#tokenizeChat(await this.applyChatTemplate(messages, how));
      return this.#firstSession.generate(tokens, options);
    });
  }

  /**
   * A conversation by the template of the model file, or one that is given. It keeps a session of its own.
   *
   * @throws KvasirError `INVALID_ARGUMENT` for a model without a template when none is given.
   */
  createChat(options: ChatOptions = {}): Chat {
    this.#checkWeights();
    checkOptions(options);
    this.#template(options.template);
    const host = {
      createSession: () => this.createSession(),
      render: (messages: readonly ChatMessage[], how: ChatTemplateOptions) => this.applyChatTemplate(messages, how),
      tokenize: (rendered: string) => this.#tokenizeChat(rendered),
    };
    return new Chat(host, options);
  }

  /**
   * The prompt that a chat becomes, by the template of the model file or one that is given. `tokenize` it with
   * `parseSpecial`; what people say can spell special tokens, so it is to be trusted no more than they are.
   *
   * @throws KvasirError `INVALID_ARGUMENT` with what the template has to say, or when there is none; `MALFORMED_FILE`
   * when the file's own is no Jinja.
   */
  async applyChatTemplate(messages: readonly ChatMessage[], options: ChatTemplateOptions = {}): Promise<string> {
    checkOptions(options);
    checkBoolean('addGenerationPrompt', options.addGenerationPrompt);
    checkBoolean('continueFinalMessage', options.continueFinalMessage);
    const template = this.#template(options.template);
    const checked = checkMessages('messages', messages);
    const [bosToken, eosToken] = await Promise.all([
      this.#spelling(this.info.bosToken),
      this.#spelling(this.info.eosToken),
    ]);
    return renderChat(template, options.template !== undefined, checked, options, { bosToken, eosToken });
  }

  /** A text of its own beside that of {@link generate}; what is not said is as the model was loaded. */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    this.#checkWeights();
    checkOptions(options);
    const { contextLength, kvCache, window, sink } = this.engine;
    const inherited = options.window === undefined ? { window, sink } : {};
    const request = readSessionOptions({ contextLength, kvCache, ...inherited, ...definedOnly(options) });
    return new Session(this.#host, await callInTurn(this.#host, { type: 'createSession', options: request }));
  }

  /**
   * The session that {@link Session.save} gave the bytes of.
   *
   * @throws KvasirError `MALFORMED_FILE` for bytes that are damaged or something else, `INVALID_ARGUMENT` when another
   * model saved them.
   */
  async restoreSession(saved: Uint8Array): Promise<Session> {
    this.#checkWeights();
    if (!(saved instanceof Uint8Array)) throw invalidArgument('saved', 'a Uint8Array', saved);
    return new Session(this.#host, await callInTurn(this.#host, { type: 'restoreSession', saved }));
  }

  /** The token ids of a text. */
  async tokenize(text: string, options: TokenizeOptions = {}): Promise<number[]> {
    checkOptions(options);
    const ids = await this.#host.client.call({
      type: 'tokenize',
      text: checkText('text', text),
      addBos: checkBoolean('addBos', options.addBos),
      parseSpecial: checkBoolean('parseSpecial', options.parseSpecial) ?? false,
    }).reply;
    return Array.from(ids);
  }

  /** The text of token ids. */
  async detokenize(tokens: readonly number[] | Int32Array, options: DetokenizeOptions = {}): Promise<string> {
    checkOptions(options);
    return this.#host.client.call({
      type: 'detokenize',
      tokens: readTokens('tokens', tokens, this.info.vocabularySize),
      special: checkBoolean('special', options.special) ?? false,
    }).reply;
  }

  /**
   * The logits after each of the tokens, which are run from an empty context: row by row, `tokens.length` rows of
   * `info.vocabularySize`. Takes its turn with the generations.
   */
  async logits(tokens: readonly number[] | Int32Array): Promise<Float32Array> {
    this.#host.client.checkRunning();
    this.#checkWeights();
    const ids = readTokens('tokens', tokens, this.info.vocabularySize);
    return callInTurn(this.#host, { type: 'logits', tokens: ids });
  }

  /**
   * How likely the model finds a text: for each of the tokens but the first, the natural logarithm of its probability
   * after those before it, `tokens.length - 1` values. Takes its turn with the generations.
   */
  async logProbabilities(tokens: readonly number[] | Int32Array): Promise<Float32Array> {
    this.#host.client.checkRunning();
    this.#checkWeights();
    const ids = readTokens('tokens', tokens, this.info.vocabularySize);
    return callInTurn(this.#host, { type: 'logProbabilities', tokens: ids });
  }

  /** The memory that the model takes now. */
  async memory(): Promise<MemoryUsage> {
    return this.#host.client.call({ type: 'memory' }).reply;
  }

  /** Ends the worker, which frees everything. What still runs fails with `DISPOSED`. */
  async dispose(): Promise<void> {
    await this.#host.client.stop(new KvasirError('DISPOSED', 'the model was disposed of'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  #template(callers: string | undefined): string {
    if (callers !== undefined) return checkText('template', callers);
    if (this.info.chatTemplate !== null) return this.info.chatTemplate;
    throw new KvasirError(
      'INVALID_ARGUMENT',
      'the model file has no chat template: give one (template), or use generate() with a prompt of your own',
    );
  }

  async #spelling(token: number | null): Promise<string> {
    return token === null ? '' : this.detokenize([token], { special: true });
  }

  async #tokenizeChat(rendered: string): Promise<number[]> {
    const { bosToken } = this.info;
    const ids = await this.tokenize(rendered, { parseSpecial: true, addBos: false });
    // A template that leaves BOS to the tokenizer gets it, where the model file says so.
    return this.info.addsBos && bosToken !== null && ids[0] !== bosToken ? [bosToken, ...ids] : ids;
  }

  #checkWeights(): void {
    if (this.info.vocabularyOnly) {
      throw new KvasirError('UNSUPPORTED_MODEL', 'the file holds a vocabulary only; it can tokenize but not generate');
    }
  }
}

const isChat = (prompt: unknown): prompt is ChatPrompt =>
  typeof prompt === 'object' && prompt !== null && 'messages' in prompt;

function definedOnly<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
