/** `kvasir logits`. Internal. */
import { writeFile } from 'node:fs/promises';
import { MODEL_HELP, MODEL_OPTIONS, parseOptions, parseTokens, withModel, type Command } from './command.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  tokens: { type: 'string' },
  out: { type: 'string', short: 'o' },
} as const;

export const logitsCommand: Command = {
  summary: 'write the logits after each of some tokens',
  help: `
Usage: kvasir logits [OPTIONS] --tokens IDS --out FILE

Runs tokens such as 1,2,3 from an empty context and writes the logits after each,
as rows of little-endian 32-bit floats.

      --tokens IDS   the ids, as they are: no BOS is added
  -o, --out FILE
${MODEL_HELP}: rows and columns
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    const { tokens: ids, out } = values;
    if (ids === undefined || out === undefined) throw new UsageError('give --tokens IDS and --out FILE');
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is one too many`);
    const tokens = parseTokens(ids);
    if (tokens.length === 0) throw new UsageError('--tokens needs at least one id');
    await withModel(values, async (model) => {
      const logits = await model.logits(tokens);
      await writeFile(out, new Uint8Array(logits.buffer, logits.byteOffset, logits.byteLength));
      if (values.json) {
        process.stdout.write(`${JSON.stringify({ rows: tokens.length, columns: model.info.vocabularySize })}\n`);
      }
    });
  },
};
