/** `kvasir bench`. Internal. */
import type { Model } from '../model.js';
import type { Session } from '../session.js';
import type { BenchmarkTest, KvCacheType } from '../types.js';
import { loadForCommand, MODEL_OPTIONS, parseOptions, type Command } from './command.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  model: MODEL_OPTIONS.model,
  variant: MODEL_OPTIONS.variant,
  prefill: { type: 'string' },
  decode: { type: 'string' },
  depth: { type: 'string' },
  threads: { type: 'string' },
  kv: { type: 'string' },
  repetitions: { type: 'string', short: 'r' },
  json: { type: 'boolean' },
} as const;

const HELP = `
Usage: kvasir bench [OPTIONS]

How fast a model is here, on made-up tokens. Lists are separated by commas, and
every combination is measured.

  -m, --model FILE   a GGUF file or a URL; again for each file of a split model
                     (default: the model that comes with Kvasir)
      --variant V    auto, st, mt, relaxed or relaxed-st (default auto)
      --prefill LIST  tokens of a prompt (default 128; 0: none)
      --decode LIST   tokens drawn one by one (default 64; 0: none)
      --depth LIST    tokens in the context before (default 0)
      --threads LIST  (default: the physical cores, at most 8)
      --kv LIST       how the context is stored: f32, f16 or i8 (default f16)
  -r, --repetitions N of which the fastest counts (default 3)
      --json          print JSON: an array of { test, n, depth, threads, kv,
                      variant, tokensPerSecond }
`;

interface Row {
  readonly test: BenchmarkTest;
  readonly n: number;
  readonly depth: number;
  readonly threads: number;
  readonly kv: KvCacheType;
  readonly variant: string;
  readonly tokensPerSecond: number;
}

interface Plan {
  readonly tests: readonly { readonly test: BenchmarkTest; readonly n: number }[];
  readonly depths: readonly number[];
  readonly kvTypes: readonly KvCacheType[];
  readonly repetitions: number;
}

export const benchCommand: Command = {
  summary: 'measure how fast a model is here',
  help: HELP,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    if (positionals.length > 0) throw new UsageError(`bench takes no "${positionals[0]}"`);
    const plan = readPlan(values);
    const rows: Row[] = [];
    for (const threads of values.threads === undefined ? [undefined] : counts('threads', values.threads)) {
      const model = await loadForCommand({
        model: values.model,
        variant: values.variant,
        threads: threads?.toString(),
      });
      try {
        for await (const row of measure(model, plan)) {
          rows.push(row);
          if (!values.json) process.stdout.write(rows.length === 1 ? TABLE_HEAD + tableRow(row) : tableRow(row));
        }
      } finally {
        await model.dispose();
      }
    }
    if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  },
};

function readPlan(values: {
  readonly [K in 'prefill' | 'decode' | 'depth' | 'kv' | 'repetitions']?: string | undefined;
}): Plan {
  const testsOf = (test: BenchmarkTest, standard: string): { test: BenchmarkTest; n: number }[] =>
    counts(test, values[test] ?? standard)
      .filter((n) => n > 0)
      .map((n) => ({ test, n }));
  const plan = {
    tests: [...testsOf('prefill', '128'), ...testsOf('decode', '64')],
    depths: counts('depth', values.depth ?? '0'),
    // The library checks the words.
    kvTypes: words(values.kv ?? 'f16') as KvCacheType[],
    repetitions: counts('repetitions', values.repetitions ?? '3')[0] ?? 0,
  };
  if (plan.tests.length === 0)
    throw new UsageError('there is nothing to measure: --prefill or --decode must be above 0');
  if (plan.repetitions < 1) throw new UsageError('--repetitions must be at least 1');
  return plan;
}

async function* measure(model: Model, { tests, depths, kvTypes, repetitions }: Plan): AsyncIterable<Row> {
  const contextLength = Math.max(...depths) + Math.max(...tests.map(({ n }) => n));
  for (const kv of kvTypes) {
    const session = await model.createSession({ kvCache: kv, contextLength, window: 0, sink: 0 });
    // Depths in ascending order compute the least.
    for (const depth of [...depths].sort((a, b) => a - b)) {
      for (const { test, n } of tests) {
        const tokensPerSecond = await fastest(session, test, n, depth, repetitions);
        const { variant, threads } = model.engine;
        yield { test, n, depth, threads, kv, variant, tokensPerSecond };
      }
    }
    await session.dispose();
  }
}

async function fastest(
  session: Session,
  test: BenchmarkTest,
  tokens: number,
  depth: number,
  repetitions: number,
): Promise<number> {
  await session.benchmark({ test, tokens: 1, depth }); // warms up
  let best = 0;
  for (let i = 0; i < repetitions; i++) {
    const { tokensPerSecond } = await session.benchmark({ test, tokens, depth });
    best = Math.max(best, tokensPerSecond);
  }
  return best;
}

const TABLE_HEAD = '| test | depth | threads | kv | variant | tokens/s |\n|---|---:|---:|---|---|---:|\n';

function tableRow({ test, n, depth, threads, kv, variant, tokensPerSecond }: Row): string {
  return `| ${test} ${n} | ${depth} | ${threads} | ${kv} | ${variant} | ${tokensPerSecond.toFixed(1)} |\n`;
}

function words(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}

function counts(name: string, text: string): number[] {
  return words(text).map((word) => {
    if (!/^\d{1,9}$/.test(word))
      throw new UsageError(`--${name} must be whole numbers separated by commas, not "${text}"`);
    return Number(word);
  });
}
