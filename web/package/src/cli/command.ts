/** What commands share: their shape, their options, the model they load. Internal. */
import { readFile } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { embeddedModel, loadModel } from '../index-node.js';
import type { Model } from '../model.js';
import type { KvCacheType, Quantization, Variant } from '../types.js';
import { interruptSignal } from './interrupt.js';
import { showProgress } from './progress.js';
import { UsageError } from './usage-error.js';

export interface Command {
  /** One line. */
  readonly summary: string;
  readonly help: string;
  run(args: readonly string[]): Promise<void>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of the options, typed by what they are declared as. */
type Values<T extends Options> = {
  [K in keyof T]?:
    (T[K] extends { multiple: true } ? string[] : T[K] extends { type: 'boolean' } ? boolean : string) | undefined;
};

export const MODEL_OPTIONS = {
  model: { type: 'string', short: 'm', multiple: true },
  variant: { type: 'string' },
  threads: { type: 'string' },
  kv: { type: 'string' },
  context: { type: 'string' },
  window: { type: 'string' },
  sink: { type: 'string' },
  quantize: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies Options;

export const MODEL_HELP = `
  -m, --model FILE   a GGUF file, a Hugging Face folder or a URL; again for each
                     file of a split model
                     (default: the model that comes with Kvasir)
      --variant V    auto, st, mt, relaxed or relaxed-st (default auto)
      --threads N    threads that compute (default: the physical cores, at most 8)
      --kv TYPE      how the context is stored: f32, f16 or i8 (default f16)
      --context N    tokens that fit (default: the model's own, at most 4096)
      --window N     let each token see the last N only: no text is too long
      --sink N       and the first N (default 4 with --window)
      --quantize T   q8_0 or q4_0: make the matrices of a folder so as they come
      --json         print JSON`.slice(1);

export function parseOptions<T extends Options>(
  args: readonly string[],
  options: T,
): { values: Values<T>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: joinValues(args, options),
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values: values as Values<T>, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** "--name -1" as "--name=-1": a value may begin with a dash, as long as it is no option. */
function joinValues(args: readonly string[], options: Options): string[] {
  const joined: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [arg = '', next] = [args[i], args[i + 1]];
    const takesValue = arg.startsWith('--') && options[arg.slice(2)]?.type === 'string';
    if (takesValue && next !== undefined && /^-[-\d.]/.test(next) && !isOption(next, options)) {
      joined.push(`${arg}=${next}`);
      i += 1;
    } else joined.push(arg);
  }
  return joined;
}

function isOption(arg: string, options: Options): boolean {
  return arg === '--' || (arg.startsWith('--') && (arg.slice(2).split('=')[0] ?? '') in options);
}

/** The number an option was given, or undefined. */
export function numberOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) throw new UsageError(`--${name} must be a number, not "${text}"`);
  return value;
}

/** The model that the options name. */
export function loadForCommand(values: Values<typeof MODEL_OPTIONS>): Promise<Model> {
  const progress = showProgress(process.stderr);
  return loadModel(values.model ?? embeddedModel, {
    onProgress: progress.update,
    signal: interruptSignal(),
    // The library checks the words.
    variant: values.variant as Variant | 'auto' | undefined,
    quantize: values.quantize as Quantization | undefined,
    kvCache: values.kv as KvCacheType | undefined,
    threads: numberOption('threads', values.threads),
    contextLength: numberOption('context', values.context),
    window: numberOption('window', values.window),
    sink: numberOption('sink', values.sink),
  }).finally(progress.clear);
}

/** Runs `work` with the model that the options name, and disposes of it. */
export async function withModel(
  values: Values<typeof MODEL_OPTIONS>,
  work: (model: Model) => Promise<void>,
): Promise<void> {
  const model = await loadForCommand(values);
  try {
    await work(model);
  } finally {
    await model.dispose();
  }
}

/** "1,2,3", "1 2 3" or "[1, 2, 3]". */
export function parseTokens(text: string): number[] {
  const words = text.split(/[\s,[\]]+/).filter((word) => word !== '');
  return words.map((word) => {
    if (!/^\d+$/.test(word)) throw new UsageError(`"${word}" is no token id`);
    return Number(word);
  });
}

/** A text from the one place of several where it was given; undefined where there is none. */
export async function inputText(
  given: string | undefined,
  file: string | undefined,
  positionals: readonly string[],
): Promise<string | undefined> {
  const places = [given, file, ...positionals].filter((place) => place !== undefined);
  if (places.length > 1) throw new UsageError('give the input once');
  if (file !== undefined) return readFile(file, 'utf8');
  if (given !== undefined) return given;
  return positionals[0] === '-' ? readStdin() : positionals[0];
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
