/** `kvasir generate`. Internal. */
import type { Model } from '../model.js';
import type { GenerateResult } from '../types.js';
import { inputText, MODEL_HELP, MODEL_OPTIONS, parseOptions, withModel, type Command } from './command.js';
import { formatBytes, formatRate, formatThreads } from '../format.js';
import { interruptSignal } from './interrupt.js';
import { generateOptions, SAMPLING_HELP, SAMPLING_OPTIONS } from './sampling.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  prompt: { type: 'string', short: 'p' },
  'prompt-file': { type: 'string' },
  special: { type: 'boolean' },
  ...SAMPLING_OPTIONS,
  stats: { type: 'boolean' },
} as const;

const HELP = `
Usage: kvasir generate [OPTIONS] [TEXT | -]

Continues a prompt; the text comes as it is generated, and nothing else with it.

  -p, --prompt TEXT  the prompt; TEXT alone is the same, "-" reads stdin
      --prompt-file FILE
      --special      read special tokens in the prompt as such
${SAMPLING_HELP}
      --stats        print times, rates and memory on stderr
${MODEL_HELP}: text, tokens, finishReason, seed, usage, timings, memory
`;

export const generateCommand: Command = {
  summary: 'continue a text',
  help: HELP,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const prompt = (await inputText(values.prompt, values['prompt-file'], positionals)) ?? '';
    const options = { ...generateOptions(values), parseSpecial: values.special, signal: interruptSignal() };
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
    ['engine', `${variant}, ${formatThreads(threads)}, ${kvCache} cache`],
  ] as const;
  return `\n${lines.map(([name, value]) => `${name.padEnd(21)}${value}\n`).join('')}`;
}
