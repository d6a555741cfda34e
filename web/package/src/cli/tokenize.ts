/** `kvasir tokenize`. Internal. */
import { inputText, MODEL_HELP, MODEL_OPTIONS, parseOptions, withModel, type Command } from './command.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  file: { type: 'string' },
  'no-bos': { type: 'boolean' },
  special: { type: 'boolean' },
} as const;

export const tokenizeCommand: Command = {
  summary: 'turn a text into token ids',
  help: `
Usage: kvasir tokenize [OPTIONS] (TEXT | --file FILE | -)

Prints the token ids of a text. A file with a vocabulary only will do.

      --file FILE    read the text from a file; "-" reads stdin
      --no-bos       without the BOS token that the model file asks for
      --special      read special tokens in the text as such
${MODEL_HELP}: an array of ids
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const text = await inputText(undefined, values.file, positionals);
    if (text === undefined) throw new UsageError('give a text, --file FILE or "-"');
    await withModel(values, async (model) => {
      const ids = await model.tokenize(text, {
        addBos: values['no-bos'] ? false : undefined,
        parseSpecial: values.special,
      });
      process.stdout.write(`${values.json ? JSON.stringify(ids) : ids.join(' ')}\n`);
    });
  },
};
