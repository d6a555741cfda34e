/** `kvasir inspect`. Internal. */
import { freemem } from 'node:os';
import { embeddedModel, inspectModel } from '../index-node.js';
import { formatBytes, formatCount, formatThreads } from '../format.js';
import type { KvCacheType, ModelInspection, Variant } from '../types.js';
import { MODEL_OPTIONS, numberOption, parseOptions, type Command } from './command.js';
import { interruptSignal } from './interrupt.js';
import { showProgress } from './progress.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  model: MODEL_OPTIONS.model,
  context: MODEL_OPTIONS.context,
  kv: MODEL_OPTIONS.kv,
  variant: MODEL_OPTIONS.variant,
  threads: MODEL_OPTIONS.threads,
  json: MODEL_OPTIONS.json,
  template: { type: 'boolean' },
} as const;

export const inspectCommand: Command = {
  summary: 'tell what a model is, and whether it will run here',
  help: `
Usage: kvasir inspect [OPTIONS] [FILE]

Tells what a model is and whether it will run here. Its weights are not loaded.

  -m, --model FILE   a GGUF file, a Hugging Face folder or a URL; again for each
                     file of a split model
                     (default: the model that comes with Kvasir)
      --context N    tokens that shall fit (default: the model's own, at most 4096)
      --kv TYPE      how the context is stored: f32, f16 or i8 (default f16)
      --variant V    auto, st, mt, relaxed or relaxed-st (default auto)
      --threads N    threads that would compute
      --template     print the chat template, and nothing else
      --json         print JSON
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    if (positionals.length > 0 && values.model !== undefined) throw new UsageError('give the file once');
    const kv = (values.kv ?? 'f16') as KvCacheType;
    const source = positionals.length > 0 ? positionals : (values.model ?? embeddedModel);
    const progress = showProgress(process.stderr);
    const found = await inspectModel(source, {
      onProgress: progress.update,
      signal: interruptSignal(),
      // The library checks the words.
      kvCache: kv,
      variant: values.variant as Variant | 'auto' | undefined,
      threads: numberOption('threads', values.threads),
      contextLength: numberOption('context', values.context),
    }).finally(progress.clear);
    if (values.template) process.stdout.write(`${found.chatTemplate ?? ''}\n`);
    else process.stdout.write(`${values.json ? JSON.stringify(found) : summary(found, kv)}\n`);
  },
};

function summary(found: ModelInspection, kv: KvCacheType): string {
  const rows: (readonly [string, string])[] = [
    ['name', found.name ?? '(none)'],
    ['license', found.license ?? '(none)'],
    ['architecture', found.architecture ?? '(vocabulary only)'],
    ...(found.vocabularyOnly ? [] : weightRows(found)),
    ['vocabulary', `${found.vocabularySize} tokens${found.vocabulary === null ? '' : `, ${found.vocabulary}`}`],
    ['BOS, EOS', `${found.bosToken ?? 'none'}${found.addsBos ? ', put first' : ''}; ${found.eosToken ?? 'none'}`],
    ['ends with', found.endTokens.map(({ id, text }) => `${text} (${id})`).join(', ') || '(nothing)'],
    ['chat template', templateRow(found.chatTemplate)],
    ...(found.vocabularyOnly ? [] : runRows(found, kv)),
  ];
  return rows.map(([name, value]) => `${name.padEnd(15)}${value}`).join('\n');
}

function weightRows(found: ModelInspection): (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [
    ['parameters', formatCount(found.parameters)],
    ['weights', formatBytes(found.weightBytes)],
    ...found.tensors.map(
      ({ type, tensors, parameters, bytes }) =>
        [`  ${type}`, `${tensors} tensors, ${formatCount(parameters)} parameters, ${formatBytes(bytes)}`] as const,
    ),
  ];
  const { shape } = found;
  if (shape === null) return rows;
  rows.push([
    'shape',
    `${shape.layers} layers of ${shape.dim}, ${shape.heads} heads of ${shape.headDim} ` +
      `(${shape.kvHeads} for keys and values), feed-forward ${shape.ffnDim}`,
  ]);
  rows.push(['context', `${found.contextLength ?? '?'} tokens`]);
  return rows;
}

function templateRow(template: string | null): string {
  if (template === null) return 'none';
  const [first = ''] = template.trim().split('\n');
  const start = first.length > 60 ? `${first.slice(0, 60)}...` : first;
  return `${template.length} characters: ${start}`;
}

function runRows(found: ModelInspection, kv: KvCacheType): (readonly [string, string])[] {
  const verdict = ['runs here', verdictOf(found, kv)] as const;
  if (found.memory === null) return [verdict];
  const { contextLength, totalBytes } = found.memory;
  const types = Object.entries(totalBytes).map(([type, bytes]) => `${formatBytes(bytes)} with ${type}`);
  return [['memory', `for ${contextLength} tokens about ${types.join(', ')}`], verdict];
}

function verdictOf({ memory, problem, variant, threads }: ModelInspection, kv: KvCacheType): string {
  if (problem !== null || memory === null) return `no: ${problem}`;
  const needed = memory.totalBytes[kv];
  if (needed > memory.limitBytes) return `not with --kv ${kv}: WebAssembly ends at ${formatBytes(memory.limitBytes)}`;
  const free = freemem();
  const engine = `variant ${variant}, ${formatThreads(threads)}`;
  return needed > free ? `slowly at best: ${formatBytes(free)} of memory are free (${engine})` : `yes: ${engine}`;
}
