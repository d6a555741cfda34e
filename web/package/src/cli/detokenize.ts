/** `kvasir detokenize`. Internal. */
import { inputText, MODEL_HELP, MODEL_OPTIONS, parseOptions, parseTokens, withModel, type Command } from './command.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  file: { type: 'string' },
  special: { type: 'boolean' },
} as const;

export const detokenizeCommand: Command = {
  summary: 'turn token ids into a text',
  help: `
Usage: kvasir detokenize [OPTIONS] (IDS | --file FILE | -)

Prints the text of token ids such as 1,2,3 and nothing after it.

      --file FILE    read the ids from a file; "-" reads stdin
      --special      write special tokens out
${MODEL_HELP}: a string
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const ids = await inputText(undefined, values.file, positionals.length > 1 ? [positionals.join(' ')] : positionals);
    if (ids === undefined) throw new UsageError('give token ids, --file FILE or "-"');
    const tokens = parseTokens(ids);
    await withModel(values, async (model) => {
      const text = await model.detokenize(tokens, { special: values.special });
      process.stdout.write(values.json ? `${JSON.stringify(text)}\n` : text);
    });
  },
};
