/** `kvasir generate`. Internal. */
import type { Model } from '../model.js';
import type { GenerateOptions, GenerateResult } from '../types.js';
import {
  inputText,
  MODEL_HELP,
  MODEL_OPTIONS,
  numberOption,
  parseOptions,
  withModel,
  type Command,
} from './command.js';
import { formatBytes, formatRate } from '../format.js';
import { interruptSignal } from './interrupt.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  prompt: { type: 'string', short: 'p' },
  'prompt-file': { type: 'string' },
  special: { type: 'boolean' },
  'max-tokens': { type: 'string', short: 'n' },
  temperature: { type: 'string' },
  'top-k': { type: 'string' },
  'top-p': { type: 'string' },
  'min-p': { type: 'string' },
  'repetition-penalty': { type: 'string' },
  'frequency-penalty': { type: 'string' },
  'presence-penalty': { type: 'string' },
  'penalty-window': { type: 'string' },
  'logit-bias': { type: 'string', multiple: true },
  seed: { type: 'string' },
  stop: { type: 'string', multiple: true },
  'ignore-eos': { type: 'boolean' },
  'context-shift': { type: 'boolean' },
  keep: { type: 'string' },
  stats: { type: 'boolean' },
} as const;

const HELP = `
Usage: kvasir generate [OPTIONS] [TEXT | -]

Continues a prompt; the text comes as it is generated, and nothing else with it.

  -p, --prompt TEXT  the prompt; TEXT alone is the same, "-" reads stdin
      --prompt-file FILE
      --special      read special tokens in the prompt as such
  -n, --max-tokens N (default 256)
      --temperature T  0 takes the likeliest token always (default 0.8)
      --top-k N      (default 40)      --top-p P  (default 0.95)
      --min-p P      (default 0.05)    --seed N   (default: random)
      --repetition-penalty X  --frequency-penalty X  --presence-penalty X
      --penalty-window N      last tokens that the penalties look at (default 64;
                              -1: all)
      --logit-bias ID=X       again for more
      --stop TEXT    end before this text; again for more
      --ignore-eos   go on when the model ends its text
      --context-shift  when the context is full, forget the older half and go on
      --keep N       but not the first N tokens (default 4)
      --stats        print times, rates and memory on stderr
${MODEL_HELP}: text, tokens, finishReason, seed, usage, timings, memory
`;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

export const generateCommand: Command = {
  summary: 'continue a text',
  help: HELP,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const prompt = (await inputText(values.prompt, values['prompt-file'], positionals)) ?? '';
    const options = generateOptions(values);
    await withModel(values, async (model) => {
      const generation = model.generate(prompt, options);
      if (values.json) {
        const result = await generation.result();
        process.stdout.write(`${JSON.stringify({ ...result, memory: await model.memory() })}\n`);
      } else {
        for await (const { text } of generation) process.stdout.write(text);
        if (process.stdout.isTTY) process.stdout.write('\n');
      }
      if (values.stats) process.stderr.write(await stats(model, await generation.result()));
    });
  },
};

function generateOptions(values: Values): GenerateOptions {
  const number = (name: keyof Values & string): number | undefined =>
    numberOption(name, values[name] as string | undefined);
  return {
    maxTokens: number('max-tokens'),
    temperature: number('temperature'),
    topK: number('top-k'),
    topP: number('top-p'),
    minP: number('min-p'),
    repetitionPenalty: number('repetition-penalty'),
    frequencyPenalty: number('frequency-penalty'),
    presencePenalty: number('presence-penalty'),
    penaltyWindow: number('penalty-window'),
    logitBias: logitBias(values['logit-bias']),
    seed: number('seed'),
    stop: values.stop,
    ignoreEos: values['ignore-eos'],
    contextShift: contextShift(values),
    parseSpecial: values.special,
    signal: interruptSignal(),
  };
}

function contextShift(values: Values): GenerateOptions['contextShift'] {
  const keep = numberOption('keep', values.keep);
  if (keep !== undefined && !values['context-shift']) throw new UsageError('--keep belongs to --context-shift');
  return values['context-shift'] ? { keep } : undefined;
}

function logitBias(pairs: readonly string[] = []): Map<number, number> {
  return new Map(
    pairs.map((pair) => {
      const [id = '', bias = ''] = pair.split('=');
      if (!/^\d+$/.test(id) || bias === '') throw new UsageError(`--logit-bias must be ID=NUMBER, not "${pair}"`);
      return [Number(id), numberOption('logit-bias', bias) ?? 0];
    }),
  );
}

async function stats(model: Model, { usage, timings }: GenerateResult): Promise<string> {
  const { weightBytes, kvCacheBytes, totalBytes } = await model.memory();
  const { variant, threads, kvCache } = model.engine;
  const lines = [
    ['time to first token', `${timings.timeToFirstTokenMs.toFixed(1)} ms`],
    [
      'prefill',
      `${formatRate(timings.prefillTokensPerSecond)} tokens/s (${usage.promptTokens - usage.reusedTokens} tokens)`,
    ],
    ['decode', `${formatRate(timings.decodeTokensPerSecond)} tokens/s (${usage.completionTokens} tokens)`],
    [
      'memory',
      `${formatBytes(totalBytes)} in all: weights ${formatBytes(weightBytes)}, KV cache ${formatBytes(kvCacheBytes)}`,
    ],
    ['engine', `${variant}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${kvCache} cache`],
  ] as const;
  return `\n${lines.map(([name, value]) => `${name.padEnd(21)}${value}\n`).join('')}`;
}
