// A stand-in for the WebAssembly module (web/package/src/wasm-module.ts) whose behaviour the prompt orders. Its
// vocabulary are the code units of ASCII; its model file is any file of 8 bytes or more. It writes "abcdef..." for ever.
const VOCABULARY = 128;
const value = (given) => ({ value: given });
const failure = (code, message) => ({ code, message });
const encode = (text) => Int32Array.from(text, (letter) => letter.charCodeAt(0));
const decode = (ids) => String.fromCharCode(...ids);

function throwLater() {
  throw new Error('thrown outside of any call');
}

class Loader {
  #received = 0;
  #window = new Uint8Array();
  begin(files) {
    this.sizes = files.map(({ bytes }) => bytes);
    return value(undefined);
  }
  window(bytes) {
    if (bytes > 16 << 20) return failure('INVALID_ARGUMENT', 'a window that large is never needed');
    this.#window = new Uint8Array(bytes);
    return value(this.#window);
  }
  append(count) {
    if (this.#received === 0 && decode(this.#window.subarray(0, 4)) === 'CRAS') {
      throw new WebAssembly.RuntimeError('unreachable executed');
    }
    this.#received += count;
    return value(undefined);
  }
  finish() {
    const expected = this.sizes.reduce((sum, size) => sum + size, 0);
    if (this.#received !== expected) return failure('MALFORMED_FILE', `${this.#received} bytes of ${expected}`);
    return value(new Model(this.#received));
  }
  delete() {}
}

class Model {
  constructor(bytes) {
    this.bytes = bytes;
  }
  info() {
    return JSON.stringify({ name: 'fake', vocabularySize: VOCABULARY, vocabularyOnly: false, weightBytes: this.bytes });
  }
  tokenize(text) {
    return value(encode(text));
  }
  detokenize(ids) {
    return value(decode(ids));
  }
  useThreads() {
    return value(undefined);
  }
  createSession(options) {
    return value(new Session(options));
  }
  restoreSession(saved) {
    if (saved.length === 0) return failure('MALFORMED_FILE', 'nothing was saved');
    return value(new Session({ contextLength: 0, kvCache: 'f16', window: 0, sink: 0 }, Int32Array.from(saved)));
  }
  delete() {}
}

class Session {
  #options;
  #tokens;
  constructor(options, tokens = Int32Array.of()) {
    this.#options = { ...options, contextLength: options.contextLength || 512 };
    this.#tokens = tokens;
  }
  options = () => this.#options;
  kvCacheBytes = () => 1024;
  tokens = () => this.#tokens.slice();
  truncate(length) {
    if (length > this.#tokens.length) return failure('INVALID_ARGUMENT', `there are ${this.#tokens.length} tokens`);
    this.#tokens = this.#tokens.slice(0, length);
    return value(undefined);
  }
  fork = () => value(new Session(this.#options, this.#tokens));
  save = () => value(Uint8Array.from(this.#tokens));
  logits(ids) {
    return value(new Float32Array(ids.length * VOCABULARY));
  }
  logProbabilities(ids) {
    return value(new Float32Array(ids.length - 1));
  }
  generate(prompt, options) {
    const text = decode(prompt);
    if (text === 'throw later') setTimeout(() => throwLater());
    if (text === 'exit') process.exit(3);
    this.#tokens = prompt.slice();
    if (text === 'too long') return failure('CONTEXT_OVERFLOW', 'the prompt is too long');
    return value(new Generation(text, options));
  }
  delete() {}
}

class Generation {
  #drawn = 0;
  #cancelled = false;
  constructor(prompt, options) {
    this.prompt = prompt;
    this.options = options;
  }
  step() {
    if (this.prompt === 'crash' && this.#drawn === 2) throw new WebAssembly.RuntimeError('unreachable executed');
    if (this.prompt === 'memory' && this.#drawn === 2) throw new WebAssembly.RuntimeError('Aborted(OOM)');
    if (this.prompt === 'fail' && this.#drawn === 2) return failure('CONTEXT_OVERFLOW', 'failed on purpose');
    if (this.#cancelled) return this.#done('abort');
    if (this.#drawn >= this.options.maxTokens) return this.#done('length');
    const token = 97 + (this.#drawn % 26);
    this.#drawn += 1;
    // "hold" gives its text two letters at a time.
    const letters =
      this.prompt === 'hold' ? (this.#drawn % 2 === 0 ? decode([token - 1, token]) : '') : decode([token]);
    return value({ kind: 'token', text: letters, token, promptTokens: this.prompt.length, finishReason: undefined });
  }
  #done(finishReason) {
    const text = this.prompt === 'hold' && this.#drawn % 2 === 1 ? '?' : '';
    return value({ kind: 'done', text, token: undefined, promptTokens: this.prompt.length, finishReason });
  }
  cancel() {
    this.#cancelled = true;
  }
  timings() {
    return {
      promptTokens: this.prompt.length,
      reusedTokens: 0,
      prefillTokens: this.prompt.length,
      completionTokens: this.#drawn,
      timeToFirstTokenMs: 1,
      prefillMs: 10,
      decodeMs: 100,
    };
  }
  delete() {}
}

export default async function create() {
  return { HEAPU8: new Uint8Array(1 << 16), Loader, memoryBytes: () => 1 << 16 };
}
