/** The options of commands that generate. Internal. */
import type { GenerateOptions } from '../types.js';
import { numberOption, type parseOptions } from './command.js';
import { UsageError } from './usage-error.js';

export const SAMPLING_OPTIONS = {
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
} as const;

type SamplingValues = ReturnType<typeof parseOptions<typeof SAMPLING_OPTIONS>>['values'];

export const SAMPLING_HELP = `
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
      --keep N       but not the first N tokens (default 4)`.slice(1);

/** What the options say of how to generate. */
export function generateOptions(values: SamplingValues): GenerateOptions {
  const number = (name: keyof SamplingValues & string): number | undefined =>
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
  };
}

function contextShift(values: SamplingValues): GenerateOptions['contextShift'] {
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
