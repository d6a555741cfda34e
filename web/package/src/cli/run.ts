/** Finds the command, runs it, and turns what goes wrong into an exit code. Internal. */
import { readFileSync } from 'node:fs';
import { KvasirError } from '../errors.js';
import { interrupted } from './interrupt.js';
import { UsageError } from './usage-error.js';
import { benchCommand } from './bench.js';
import { chatCommand } from './chat.js';
import { detokenizeCommand } from './detokenize.js';
import { generateCommand } from './generate.js';
import { inspectCommand } from './inspect.js';
import { logitsCommand } from './logits.js';
import { perplexityCommand } from './perplexity.js';
import { tokenizeCommand } from './tokenize.js';
import type { Command } from './command.js';

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;
export const EXIT_INTERRUPTED = 130;

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['generate', generateCommand],
  ['chat', chatCommand],
  ['tokenize', tokenizeCommand],
  ['detokenize', detokenizeCommand],
  ['inspect', inspectCommand],
  ['logits', logitsCommand],
  ['perplexity', perplexityCommand],
  ['bench', benchCommand],
]);

export async function run(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version') return print(version());
  if (name === undefined || name === '--help' || name === 'help') {
    return name === undefined ? complain(overview(), EXIT_USAGE) : print(overview());
  }
  const command = COMMANDS.get(name);
  if (command === undefined) {
    return complain(`kvasir: there is no command "${name}"; kvasir --help lists them`, EXIT_USAGE);
  }
  if (rest.includes('--help')) return print(command.help.trim());
  try {
    await command.run(rest);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_OK;
  } catch (error) {
    if (interrupted()) return EXIT_INTERRUPTED;
    return complain(`kvasir ${name}: ${error instanceof Error ? error.message : String(error)}`, exitCode(error));
  }
}

function exitCode(error: unknown): number {
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof KvasirError && error.code === 'INVALID_ARGUMENT' ? EXIT_USAGE : EXIT_ERROR;
}

function overview(): string {
  const commands = [...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`);
  return `Usage: kvasir COMMAND [OPTIONS]

Runs language models on the CPU.

Commands:
${commands.join('\n')}

kvasir COMMAND --help tells the options; kvasir --version the version.
Exit codes: 0 done, 1 it failed, 2 wrong usage, 130 ended by Ctrl-C.`;
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT_OK;
}

function complain(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
