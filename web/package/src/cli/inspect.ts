/** `kvasir inspect`. Internal. */
import type { Model } from '../model.js';
import { MODEL_HELP, MODEL_OPTIONS, parseOptions, withModel, type Command } from './command.js';
import { formatBytes, formatCount } from './format.js';
import { UsageError } from './usage-error.js';

export const inspectCommand: Command = {
  summary: 'tell what a model file holds',
  help: `
Usage: kvasir inspect [OPTIONS] [FILE]

Tells what a model file says of itself.

${MODEL_HELP}
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, MODEL_OPTIONS);
    if (positionals.length > 0 && values.model !== undefined) throw new UsageError('give the file once');
    const model = positionals.length > 0 ? positionals : values.model;
    await withModel({ ...values, ...(model && { model }) }, async (loaded) => {
      process.stdout.write(`${values.json ? JSON.stringify(loaded.info) : summary(loaded)}\n`);
    });
  },
};

function summary({ info }: Model): string {
  const { shape } = info;
  const rows: (readonly [string, string])[] = [
    ['name', info.name ?? '(none)'],
    ['license', info.license ?? '(none)'],
    ['architecture', info.architecture ?? '(vocabulary only)'],
    ['parameters', formatCount(info.parameters)],
    ['weights', formatBytes(info.weightBytes)],
    ...info.tensors.map(
      ({ type, tensors, parameters, bytes }) =>
        [`  ${type}`, `${tensors} tensors, ${formatCount(parameters)} parameters, ${formatBytes(bytes)}`] as const,
    ),
    ['context', info.contextLength === null ? '(none)' : `${info.contextLength} tokens`],
    ['vocabulary', `${info.vocabularySize} tokens, BOS ${info.bosToken ?? 'none'}, EOS ${info.eosToken ?? 'none'}`],
    ['adds BOS', info.addsBos ? 'yes' : 'no'],
    ['chat template', info.chatTemplate === null ? 'no' : 'yes'],
  ];
  if (shape !== null) {
    rows.push([
      'shape',
      `${shape.layers} layers of ${shape.dim}, ${shape.heads} heads of ${shape.headDim} ` +
        `(${shape.kvHeads} for keys and values), feed-forward ${shape.ffnDim}`,
    ]);
  }
  return rows.map(([name, value]) => `${name.padEnd(15)}${value}`).join('\n');
}
