/** `kvasir perplexity`. Internal. */
import type { Model } from '../model.js';
import { inputText, MODEL_HELP, MODEL_OPTIONS, parseOptions, withModel, type Command } from './command.js';
import { UsageError } from './usage-error.js';

const OPTIONS = { ...MODEL_OPTIONS, file: { type: 'string', short: 'f' }, separator: { type: 'string' } } as const;

const HELP = `
Usage: kvasir perplexity [OPTIONS] (--file FILE | TEXT | -)

How well the model foretells a text: exp of the mean negative log likelihood of
its tokens. A text longer than the context is cut into pieces of that length,
each of which begins anew.

  -f, --file FILE
      --separator LINE  lines of just this separate texts of their own
${MODEL_HELP}: perplexity, tokens, texts
`;

export const perplexityCommand: Command = {
  summary: 'how well a model foretells a text',
  help: HELP,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const text = await inputText(undefined, values.file, positionals);
    if (text === undefined) throw new UsageError('give a text, or a --file');
    const texts = split(text, values.separator);
    await withModel(values, async (model) => {
      const { perplexity, tokens } = await measure(model, texts);
      if (tokens === 0) throw new UsageError('the text has no token to foretell');
      const result = { perplexity, tokens, texts: texts.length };
      process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : `${perplexity.toFixed(4)}\n`);
    });
  },
};

function split(text: string, separator: string | undefined): string[] {
  if (separator === undefined) return [text];
  const texts = [''];
  for (const line of text.split(/\r?\n/)) {
    if (line === separator) texts.push('');
    else texts[texts.length - 1] += `${line}\n`;
  }
  return texts.map((part) => part.trim()).filter((part) => part !== '');
}

async function measure(model: Model, texts: readonly string[]): Promise<{ perplexity: number; tokens: number }> {
  let total = 0;
  let tokens = 0;
  for (const text of texts) {
    const ids = await model.tokenize(text);
    const start = model.info.addsBos && model.info.bosToken !== null ? [model.info.bosToken] : [];
    const room = model.engine.contextLength - start.length;
    if (room < 1) throw new UsageError('--context must hold at least 2 tokens');
    for (let first = start.length; first < ids.length; first += room) {
      const scores = await model.logProbabilities([...start, ...ids.slice(first, first + room)]);
      for (const score of scores) total -= score;
      tokens += scores.length;
    }
  }
  return { perplexity: Math.exp(total / tokens), tokens };
}
