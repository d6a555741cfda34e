// Renders damaged and made-up chat templates for some minutes: each must give a text or a KvasirError, and end. What
// fails is kept in corpus/chat-templates, which tests/node/chat-templates.test.ts renders again.
// Usage: node tests/fuzz/chat_templates.mjs [--minutes N] [--seed N]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KvasirError } from '../../web/package/dist/index-node.js';
import { renderChat } from '../../web/package/dist/chat/template.js';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? 1);
const end = Date.now() + 60_000 * Number(values.minutes ?? 10);
/** A template that takes longer stands for one that does not end. */
const SLOWEST_MS = 10_000;

const folder = new URL('../golden/chat-templates/', import.meta.url);
const templates = readdirSync(folder)
  .filter((name) => name.endsWith('.jinja'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));
const conversations = JSON.parse(readFileSync(new URL('conversations.json', folder), 'utf8'));
const PIECES = [
  '{{', '}}', '{%', '%}', '{#', '#}', '-', '|', '(', ')', '[', ']', '{', '}', '~', '+', '*', '/', '%', '.', ',', ':',
  "'", '"', '\\', '\n', '0', '-1', '1e9', '9007199254740993', 'none', 'true', 'messages', 'message', 'loop', 'ns',
  'namespace(', 'range(', 'if ', 'else', 'elif ', 'endif', 'for ', ' in ', 'endfor', 'set ', 'endset', 'macro ', 'endmacro',
  'call ', 'endcall', 'filter ', 'endfilter', 'break', 'continue', 'generation', 'is defined', 'is not ', 'not ', ' and ', ' or ',
  'tojson', 'trim', 'join(', 'selectattr(', 'map(', 'sort', 'length', 'items()', 'split(', 'replace(', 'indent(', 'default(',
  'raise_exception(', 'strftime_now(', '__proto__', 'constructor', '[::-1]', '[1:', '\u{1f600}', '\ud800', '\0',
]; // prettier-ignore

/** A small generator of numbers in [0, 1) (mulberry32). */
function random() {
  random.state = (random.state + 0x6d2b79f5) | 0;
  let t = Math.imul(random.state ^ (random.state >>> 15), 1 | random.state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
random.state = seed;
const below = (count) => Math.floor(random() * count);
const oneOf = (list) => list[below(list.length)];

function madeUp() {
  return Array.from({ length: 1 + below(30) }, () => oneOf(PIECES)).join(random() < 0.5 ? '' : ' ');
}

function damaged() {
  let text = oneOf(templates);
  for (let i = 1 + below(4); i > 0; i--) {
    const [at, length] = [below(text.length), below(20)];
    const other = oneOf(templates);
    const put = [oneOf(PIECES), '', other.slice(below(other.length)).slice(0, 40)][below(3)];
    text = text.slice(0, at) + put + text.slice(at + length);
  }
  return text;
}

/** Keeps what failed, and ends. */
function fail(template, conversation, what) {
  const found = new URL(`corpus/chat-templates/found-${seed}-${runs}.json`, import.meta.url);
  writeFileSync(found, `${JSON.stringify({ template, conversation, refusal: what }, null, 2)}\n`);
  console.error(`seed ${seed}, run ${runs}: ${what}; kept in ${found.pathname}`);
  process.exit(1);
}

let [runs, texts] = [0, 0];
while (Date.now() < end) {
  const template = random() < 0.3 ? madeUp() : damaged();
  const conversation = below(conversations.length);
  const { messages, tools, documents } = conversations[conversation];
  const began = Date.now();
  try {
    const text = await renderChat(
      template,
      true,
      messages,
      { tools, documents },
      { bosToken: '<s>', eosToken: '</s>' },
    );
    if (typeof text !== 'string') throw new Error(`gave ${typeof text}`);
    texts += 1;
  } catch (error) {
    // The engine's own errors are defects, but for a full stack.
    const isDefect = error.cause instanceof TypeError || error.cause instanceof ReferenceError;
    if (!(error instanceof KvasirError) || isDefect) fail(template, conversation, error.cause?.stack ?? String(error));
  }
  if (Date.now() - began > SLOWEST_MS) fail(template, conversation, `took ${Date.now() - began} ms`);
  runs += 1;
}
console.log(`${runs} templates, of which ${texts} gave a text; seed ${seed}`);
