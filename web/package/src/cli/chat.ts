/** `kvasir chat`. Internal. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Chat } from '../chat/chat.js';
import type { Model } from '../model.js';
import type { ChatOptions } from '../types.js';
import { MODEL_HELP, MODEL_OPTIONS, parseOptions, withModel, type Command } from './command.js';
import { generateOptions, SAMPLING_HELP, SAMPLING_OPTIONS } from './sampling.js';
import { UsageError } from './usage-error.js';

const OPTIONS = {
  ...MODEL_OPTIONS,
  ...SAMPLING_OPTIONS,
  system: { type: 'string', short: 's' },
  template: { type: 'string' },
} as const;

const PROMPT = '> ';

const COMMANDS = `\
  /again             another answer to the last message
  /reset             forget what was said, but for the system prompt
  /system TEXT       another system prompt, or none; what was said stays
  /help              tell the commands
  /exit`;

export const chatCommand: Command = {
  summary: 'talk with a model',
  help: `
Usage: kvasir chat [OPTIONS]

Answers each line of the input, by the model's chat template. Ctrl-C ends an
answer, and at the prompt the chat. Lines that begin with a slash are commands:

${COMMANDS}

  -s, --system TEXT  the system prompt
      --template FILE  a Jinja template instead of the model's own
${SAMPLING_HELP}
${MODEL_HELP}: an object a line, with the answer's text, tokens,
                     finishReason, seed, usage and timings
`,
  async run(args) {
    const { values, positionals } = parseOptions(args, OPTIONS);
    if (positionals.length > 0) throw new UsageError('what is said comes from the input, a line each');
    const template = values.template === undefined ? undefined : await readFile(values.template, 'utf8');
    await withModel(values, (model) =>
      talk(model, { system: values.system, template, ...generateOptions(values) }, values.json === true),
    );
  },
};

async function talk(model: Model, options: ChatOptions, asJson: boolean): Promise<void> {
  let chat = model.createChat(options);
  const terminal = process.stdin.isTTY && process.stdout.isTTY;
  const lines = createInterface({
    input: process.stdin,
    output: terminal ? process.stdout : undefined,
    prompt: PROMPT,
  });
  let answering: AbortController | undefined;
  lines.on('SIGINT', () => {
    if (answering === undefined) lines.close();
    else answering.abort();
  });
  if (terminal) lines.prompt();
  for await (const line of lines) {
    const said = line.trim();
    if (said === '/exit') break;
    const [command = '', text] = [/^\/\S+/.exec(said)?.[0], said.replace(/^\S+\s*/, '')];
    if (command === '/system') {
      chat = await withSystem(model, options, chat, text === '' ? undefined : text);
    } else if (said !== '') {
      answering = new AbortController();
      await answer(chat, said, answering.signal, asJson);
      answering = undefined;
    }
    if (terminal) lines.prompt();
  }
  lines.close();
  await chat.dispose();
}

/** The same chat after another system prompt. */
async function withSystem(model: Model, options: ChatOptions, chat: Chat, system: string | undefined): Promise<Chat> {
  const messages = chat.messages.filter(({ role }, i) => i > 0 || role !== 'system');
  await chat.dispose();
  return model.createChat({ ...options, system, messages });
}

async function answer(chat: Chat, said: string, signal: AbortSignal, asJson: boolean): Promise<void> {
  if (said === '/reset') return chat.reset();
  if (said === '/help') {
    process.stderr.write(`${COMMANDS}\n`);
    return;
  }
  if (said.startsWith('/') && said !== '/again') {
    process.stderr.write(`there is no command ${said}; there are /again, /reset, /system, /help and /exit\n`);
    return;
  }
  if (said === '/again' && chat.messages.at(-1)?.role !== 'assistant') {
    process.stderr.write('there is no answer to give anew\n');
    return;
  }
  const reply = said === '/again' ? chat.regenerate({ signal }) : chat.send(said, { signal });
  if (asJson) {
    process.stdout.write(`${JSON.stringify(await reply.result())}\n`);
    return;
  }
  for await (const { text } of reply) process.stdout.write(text);
  process.stdout.write('\n');
}
