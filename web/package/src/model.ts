/// <reference lib="esnext.disposable" preserve="true" />
import type { EngineClient } from './engine-client.js';
import { KvasirError } from './errors.js';
import { Generation } from './generation.js';
import { checkBoolean, checkText, readGenerateOptions, readTokens } from './options.js';
import { Turns } from './turns.js';
import type {
  DetokenizeOptions,
  EngineInfo,
  GenerateOptions,
  MemoryUsage,
  ModelInfo,
  TokenizeOptions,
} from './types.js';

/** A loaded model. Its engine runs in a worker of its own until {@link Model.dispose}. */
export class Model implements AsyncDisposable {
  /** What the model file says of itself. */
  readonly info: ModelInfo;
  /** How the model was loaded. */
  readonly engine: EngineInfo;
  readonly #client: EngineClient;
  readonly #turns = new Turns();

  /** @internal */
  constructor(client: EngineClient, info: ModelInfo, engine: EngineInfo) {
    this.#client = client;
    this.info = info;
    this.engine = engine;
  }

  /**
   * Continues a prompt: a text, which gets a BOS token where the model file says so, or token ids as they are.
   * Generations of one model run one after the other, in the order they are started.
   *
   * @throws KvasirError `INVALID_ARGUMENT` naming the option, at once; what goes wrong later comes out of the iterator
   * and `result()`, such as `CONTEXT_OVERFLOW`.
   */
  generate(prompt: string | readonly number[] | Int32Array, options: GenerateOptions = {}): Generation {
    this.#client.checkRunning();
    this.#checkWeights();
    const request = {
      type: 'generate',
      prompt: typeof prompt === 'string' ? prompt : readTokens('prompt', prompt, this.info.vocabularySize),
      parseSpecial: checkBoolean('parseSpecial', options.parseSpecial) ?? false,
      options: readGenerateOptions(options, this.info.vocabularySize),
    } as const;
    return new Generation(this.#client, this.#turns, request, options.signal);
  }

  /** The token ids of a text. */
  async tokenize(text: string, options: TokenizeOptions = {}): Promise<number[]> {
    const ids = await this.#client.call({
      type: 'tokenize',
      text: checkText('text', text),
      addBos: checkBoolean('addBos', options.addBos),
      parseSpecial: checkBoolean('parseSpecial', options.parseSpecial) ?? false,
    }).reply;
    return Array.from(ids);
  }

  /** The text of token ids. */
  async detokenize(tokens: readonly number[] | Int32Array, options: DetokenizeOptions = {}): Promise<string> {
    return this.#client.call({
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
    this.#client.checkRunning();
    this.#checkWeights();
    const ids = readTokens('tokens', tokens, this.info.vocabularySize);
    const turn = this.#turns.enter();
    try {
      await turn.ready;
      return await this.#client.call({ type: 'logits', tokens: ids }).reply;
    } finally {
      turn.leave();
    }
  }

  /** The memory that the model takes now. */
  async memory(): Promise<MemoryUsage> {
    return this.#client.call({ type: 'memory' }).reply;
  }

  /** Ends the worker, which frees everything. What still runs fails with `DISPOSED`. */
  async dispose(): Promise<void> {
    await this.#client.stop(new KvasirError('DISPOSED', 'the model was disposed of'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  #checkWeights(): void {
    if (this.info.vocabularyOnly) {
      throw new KvasirError('UNSUPPORTED_MODEL', 'the file holds a vocabulary only; it can tokenize but not generate');
    }
  }
}
