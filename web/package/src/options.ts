/** Checks and defaults of the options. INVALID_ARGUMENT names the option. Internal. */
import { invalidArgument } from './errors.js';
import type {
  BenchmarkOptions,
  BenchmarkTest,
  GenerateOptions,
  LoadOptions,
  Quantization,
  SessionOptions,
  Variant,
} from './types.js';
import type { WasmGenerateOptions, WasmSessionOptions } from './wasm-module.js';

const MOST_THREADS = 64;
const MOST_CONTEXT = 2 ** 24;
/** First tokens that stay when others are forgotten: enough to keep models stable (Xiao et al., 2023). */
const STANDARD_SINK = 4;
const LARGEST_INT32 = 2 ** 31 - 1;

interface Range {
  readonly min: number;
  readonly max: number;
  /** The smallest value is left out. */
  readonly above?: boolean;
  readonly whole?: boolean;
}

export interface CheckedLoadOptions {
  readonly variant: Variant | 'auto';
  readonly threads: number | undefined;
  readonly session: WasmSessionOptions;
  readonly quantize: Quantization | undefined;
}

export function readLoadOptions(options: LoadOptions): CheckedLoadOptions {
  checkOptions(options);
  checkFunction('onProgress', options.onProgress);
  checkSignal(options.signal);
  return {
    variant: checkChoice('variant', options.variant === undefined ? 'auto' : options.variant, [
      'auto',
      'st',
      'mt',
      'relaxed',
      'relaxed-st',
    ]),
    threads: checkWhole('threads', options.threads, 1, MOST_THREADS),
    session: readSessionOptions(options),
    quantize:
      options.quantize === undefined
        ? undefined
        : checkChoice<Quantization>('quantize', options.quantize, ['q8_0', 'q4_0']),
  };
}

export function readSessionOptions(options: SessionOptions): WasmSessionOptions {
  const window = checkWhole('window', options.window, 0, MOST_CONTEXT) ?? 0;
  const sink = checkWhole('sink', options.sink, 0, MOST_CONTEXT) ?? (window > 0 ? STANDARD_SINK : 0);
  if (window === 0 && sink > 0) throw invalidArgument('sink', '0 without a window', sink);
  return {
    contextLength: checkWhole('contextLength', options.contextLength, 1, MOST_CONTEXT) ?? 0,
    kvCache: checkChoice('kvCache', options.kvCache === undefined ? 'f16' : options.kvCache, ['f32', 'f16', 'i8']),
    window,
    sink,
  };
}

export function readGenerateOptions(options: GenerateOptions, vocabularySize: number): WasmGenerateOptions {
  checkSignal(options.signal);
  const number = (name: keyof GenerateOptions, value: number | undefined, standard: number, range: Range): number =>
    value === undefined ? standard : checkNumber(name, value, range);
  const count = { min: 0, max: LARGEST_INT32, whole: true };
  const share = { min: 0, max: 1 };
  const penalty = { min: -100, max: 100 };
  return {
    maxTokens: number('maxTokens', options.maxTokens, 256, count),
    temperature: number('temperature', options.temperature, 0.8, { min: 0, max: 100 }),
    topK: number('topK', options.topK, 40, count),
    topP: number('topP', options.topP, 0.95, { ...share, above: true }),
    minP: number('minP', options.minP, 0.05, share),
    repetitionPenalty: number('repetitionPenalty', options.repetitionPenalty, 1, { min: 0, max: 100, above: true }),
    frequencyPenalty: number('frequencyPenalty', options.frequencyPenalty, 0, penalty),
    presencePenalty: number('presencePenalty', options.presencePenalty, 0, penalty),
    penaltyWindow: number('penaltyWindow', options.penaltyWindow, 64, { ...count, min: -1 }),
    logitBias: readLogitBias(options.logitBias, vocabularySize),
    seed: number('seed', options.seed, randomSeed(), { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    stop: readStop(options.stop),
    ignoreEos: checkBoolean('ignoreEos', options.ignoreEos) ?? false,
    shiftKeep: readContextShift(options.contextShift),
  };
}

/** Ids in [0, vocabularySize). */
export function readTokens(name: string, tokens: readonly number[] | Int32Array, vocabularySize: number): Int32Array {
  if (!Array.isArray(tokens) && !(tokens instanceof Int32Array)) {
    throw invalidArgument(
      name,
      name === 'prompt' ? 'a string or an array of token ids' : 'an array of token ids',
      tokens,
    );
  }
  for (const [index, token] of tokens.entries()) {
    checkNumber(`${name}[${index}]`, token, { min: 0, max: vocabularySize - 1, whole: true });
  }
  return Int32Array.from(tokens);
}

export function readBenchmarkOptions({ test, tokens, depth = 0 }: BenchmarkOptions): {
  test: BenchmarkTest;
  tokens: number;
  depth: number;
} {
  const count = { max: LARGEST_INT32, whole: true };
  return {
    test: checkChoice('test', test, ['prefill', 'decode']),
    tokens: checkNumber('tokens', tokens, { ...count, min: 1 }),
    depth: checkNumber('depth', depth, { ...count, min: 0 }),
  };
}

export function checkText(name: string, text: string): string {
  if (typeof text !== 'string') throw invalidArgument(name, 'a string', text);
  return wellFormed(text);
}

/** Half a surrogate pair has no UTF-8: it becomes U+FFFD, as everywhere on the platform. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

export function checkOptions(options: object): void {
  if (typeof options !== 'object' || options === null) throw invalidArgument('options', 'an object', options);
}

export function checkBoolean(name: string, value: boolean | undefined): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') throw invalidArgument(name, 'true or false', value);
  return value;
}

export function checkNumber(name: string, value: number, { min, max, above = false, whole = false }: Range): number {
  const fits = typeof value === 'number' && (above ? value > min : value >= min) && value <= max;
  if (!fits || (whole && !Number.isInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number';
    throw invalidArgument(name, `${kind} ${above ? `above ${min}, at most ${max}` : `in ${min}..${max}`}`, value);
  }
  return value;
}

/** A whole number in min..max. */
export function checkWhole(name: string, value: number | undefined, min: number, max: number): number | undefined {
  return value === undefined ? undefined : checkNumber(name, value, { min, max, whole: true });
}

function readContextShift(shift: GenerateOptions['contextShift']): number | undefined {
  if (shift === undefined || shift === false) return undefined;
  if (shift === true) return STANDARD_SINK;
  if (typeof shift !== 'object' || shift === null)
    throw invalidArgument('contextShift', 'a boolean or an object', shift);
  return checkWhole('contextShift.keep', shift.keep, 0, MOST_CONTEXT) ?? STANDARD_SINK;
}

function checkChoice<T extends string>(name: string, value: T, choices: readonly T[]): T {
  if (!choices.includes(value)) throw invalidArgument(name, `one of ${choices.join(', ')}`, value);
  return value;
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalidArgument(name, 'a function', value);
}

function checkSignal(value: unknown): void {
  if (value !== undefined && !(value instanceof AbortSignal)) throw invalidArgument('signal', 'an AbortSignal', value);
}

function readStop(stop: GenerateOptions['stop']): readonly string[] {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? []);
  if (!Array.isArray(stops)) throw invalidArgument('stop', 'a string or an array of strings', stop);
  for (const text of stops) {
    if (typeof text !== 'string' || text === '') throw invalidArgument('stop', 'text, not empty', text);
  }
  return stops.map(wellFormed);
}

function readLogitBias(bias: GenerateOptions['logitBias'], vocabularySize: number): [number, number][] {
  if (bias === undefined) return [];
  if (typeof bias !== 'object' || bias === null) throw invalidArgument('logitBias', 'a record or a map', bias);
  const entries: [number, number][] =
    bias instanceof Map ? [...bias] : Object.entries(bias).map(([id, value]) => [Number(id), value]);
  for (const [id, value] of entries) {
    checkNumber('a token id of logitBias', id, { min: 0, max: vocabularySize - 1, whole: true });
    checkNumber(`logitBias[${id}]`, value, { min: -Infinity, max: 1e6 });
  }
  return entries;
}

function randomSeed(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}
