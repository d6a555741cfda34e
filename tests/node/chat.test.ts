/** Chats with the embedded model, and the templates that models and callers give. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embeddedModel, KvasirError, loadModel } from '../../web/package/dist/index-node.js';
import { strftime } from '../../web/package/dist/chat/strftime.js';
import type { Model } from '../../web/package/dist/model.js';
import type { ChatMessage, ChatTemplateOptions } from '../../web/package/dist/types.js';
import { hasSharedModels, stories260K } from './models.js';

let model: Model;
beforeAll(async () => {
  model = await loadModel(embeddedModel);
});
afterAll(() => model.dispose());

const HELLO: readonly ChatMessage[] = [{ role: 'user', content: 'A story about a fox' }];
const ASK = 'Tell me a story about a fox.';
const short = { temperature: 0, maxTokens: 12 } as const;

const render = (template: string, options: ChatTemplateOptions = {}): Promise<string> =>
  model.applyChatTemplate(HELLO, { ...options, template });

async function failure(work: Promise<unknown>): Promise<KvasirError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KvasirError);
  return error as KvasirError;
}

describe('a chat template', () => {
  test("is the model file's own", async () => {
    expect(await model.applyChatTemplate(HELLO)).toBe('<|user|>A story about a fox<|end|><|assistant|>');
    expect(await model.applyChatTemplate(HELLO, { addGenerationPrompt: false })).toBe(
      '<|user|>A story about a fox<|end|>',
    );
  });

  test('reads the tokens of the vocabulary, tools, documents and variables', async () => {
    const tool = { type: 'function', function: { name: 'add', parameters: { b: 'é<', a: [1, 2.5, null, true] } } };
    expect(
      await render('{{ bos_token }}|{{ eos_token }}|{{ tools | tojson }}|{{ documents[0].text }}|{{ mood }}', {
        tools: [tool],
        documents: [{ text: 'a fact' }],
        variables: { mood: 'calm' },
      }),
    ).toBe(
      '<s>|</s>|[{"type": "function", "function": {"name": "add", "parameters": {"b": "é<", "a": [1, 2.5, null, true]}}}]' +
        '|a fact|calm',
    );
    expect(await render('{{ 1 if tools is none }}{{ 2 if mood is defined }}')).toBe('1');
  });

  test('tells the date', async () => {
    const now = new Date();
    const two = (value: number): string => String(value).padStart(2, '0');
    const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
    expect(await render("{{ strftime_now('%Y-%m-%d') }}")).toBe(date);
    const at = new Date(2026, 2, 5, 13, 7, 9);
    expect(strftime(at, '%d %b %Y, %A %-d %B %y %H:%M:%S %I %p %a %F %T %% %Q')).toBe(
      '05 Mar 2026, Thursday 5 March 26 13:07:09 01 PM Thu 2026-03-05 13:07:09 % %Q',
    );
  });

  test('trims blocks as transformers does', async () => {
    expect(await render('{% if true %}\n  {% set x = 1 %}\n  a\n{% endif %}\nb\n')).toBe('  a\nb');
  });

  test('continues the last message', async () => {
    const messages = [...HELLO, { role: 'assistant', content: 'Once ' }];
    const continued = { continueFinalMessage: true };
    expect(await model.applyChatTemplate(messages, continued)).toBe(
      '<|user|>A story about a fox<|end|><|assistant|>Once ',
    );
    const trims = '{% for m in messages %}[{{ m.content | trim }}]{% endfor %}';
    expect(await model.applyChatTemplate(messages, { ...continued, template: trims })).toBe(
      '[A story about a fox][Once',
    );
    const leavesOut = '{{ messages[0].content }}';
    const error = await failure(model.applyChatTemplate(messages, { ...continued, template: leavesOut }));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('leaves out') });
  });

  test('continues the last text of a message in parts', async () => {
    const parts = [{ type: 'text', text: 'Look: ' }, { type: 'text', text: 'a ' }, { type: 'image' }];
    const template = '{% for m in messages %}[{% for p in m.content %}{{ p.text }}{% endfor %}]{% endfor %}';
    const continued = { continueFinalMessage: true, template };
    const messages = [{ role: 'assistant', content: parts }];
    expect(await model.applyChatTemplate(messages, continued)).toBe('[Look: a ');
    expect(parts[1]?.text).toBe('a ');
    const error = await failure(model.applyChatTemplate([{ role: 'user', content: [{ type: 'image' }] }], continued));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('parts with a text') });
  });

  test.each([
    ['says so itself', "{{ raise_exception('roles must alternate') }}", 'roles must alternate'],
    ['is no Jinja', '{% if %}', 'chat template: '],
    ['never ends', '{% for i in range(1000000000) %}{% endfor %}', 'at most 100000'],
    [
      'takes ages',
      '{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}',
      'does not come to an end',
    ],
    ['steps by nothing', '{% for i in range(1, 5, 0) %}{% endfor %}', 'must not be zero'],
    ['calls itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 'chat template: '],
    ['calls what is not there', '{{ messages.pop() }}', 'chat template: '],
  ])('that %s gives an error with its words', async (_name, template, words) => {
    const error = await failure(render(template));
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(error.message).toContain(words);
  });

  test.each(['constructor', '__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty'])(
    'does not reach %s of what it is given',
    async (name) => {
      expect(
        await render(`{{ 1 if messages[0].${name} is defined }}{{ 2 if messages[0]['${name}'] is defined }}`),
      ).toBe('');
      expect(await render(`{{ 3 if ${name} is defined }}`)).toBe('');
    },
  );

  test('does not change what it is given', async () => {
    const messages = [{ role: 'user', content: 'a', list: [1] }];
    await model.applyChatTemplate(messages, {
      template: '{% for m in messages %}{% set ns = namespace(m=m) %}{% set ns.m = 2 %}{% endfor %}',
    });
    expect(messages).toEqual([{ role: 'user', content: 'a', list: [1] }]);
  });

  test.skipIf(!hasSharedModels)('can be given to a model that has none', async () => {
    const without = await loadModel(stories260K);
    try {
      expect(() => without.createChat()).toThrow(/no chat template.*template/);
      const error = await failure(without.applyChatTemplate(HELLO));
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
      const chat = without.createChat({ ...short, template: '{% for m in messages %}{{ m.content }} {% endfor %}' });
      expect((await chat.send('Once upon a time').result()).text).not.toBe('');
    } finally {
      await without.dispose();
    }
  });
});

describe('a chat', () => {
  test('streams answers, remembers them and computes nothing twice', async () => {
    const chat = model.createChat({ system: 'Be brief.', ...short });
    let text = '';
    for await (const piece of chat.send(ASK)) text += piece.text;
    expect(text).not.toBe('');
    expect(chat.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: ASK },
      { role: 'assistant', content: text },
    ]);
    const { usage } = await chat.send('And then?').result();
    expect(usage.reusedTokens).toBeGreaterThan(usage.promptTokens / 2);
    expect(chat.messages).toHaveLength(5);
    await chat.dispose();
    expect(() => chat.send('more')).toThrow(/disposed/);
  });

  test('gives what the rendered prompt gives, with BOS once', async () => {
    const chat = model.createChat(short);
    const { text, usage } = await chat.send(ASK).result();
    const prompt = await model.applyChatTemplate([{ role: 'user', content: ASK }]);
    const tokens = await model.tokenize(prompt, { parseSpecial: true });
    expect(tokens.filter((id) => id === model.info.bosToken)).toHaveLength(1);
    expect(usage.promptTokens).toBe(tokens.length);
    expect((await model.generate(tokens, short).result()).text).toBe(text);

    const template = '{{ bos_token }}{{ messages[0].content }}';
    const own = await model
      .createChat({ ...short, template })
      .send('Once')
      .result();
    expect(own.usage.promptTokens).toBe((await model.tokenize('Once')).length);
  });

  test('answers one after the other', async () => {
    const chat = model.createChat(short);
    const [first, second] = [chat.send('One.'), chat.send('Two.')];
    await Promise.all([first.result(), second.result()]);
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(chat.messages[2]?.content).toBe('Two.');
  });

  test('keeps an aborted answer as far as it came, and goes on', async () => {
    const chat = model.createChat({ temperature: 0, ignoreEos: true, maxTokens: 300 });
    let text = '';
    for await (const piece of chat.send(ASK)) {
      text += piece.text;
      break;
    }
    expect(chat.messages).toHaveLength(2);
    expect(String(chat.messages[1]?.content).startsWith(text)).toBe(true);
    const aborted = chat.send('No.', { signal: AbortSignal.abort() });
    expect((await aborted.result()).finishReason).toBe('abort');
    expect(chat.messages).toHaveLength(2);
    expect((await chat.send('Go on.', { maxTokens: 3 }).result()).finishReason).toBe('length');
    expect(chat.messages).toHaveLength(4);
  });

  test('leaves the history as it was when an answer fails', async () => {
    const chat = model.createChat(short);
    await chat.send(ASK).result();
    const before = chat.messages;
    const error = await failure(chat.send('word '.repeat(2000)).result());
    expect(error.code).toBe('CONTEXT_OVERFLOW');
    expect(chat.messages).toBe(before);
    await expect(async () => {
      for await (const _piece of chat.send('word '.repeat(2000)));
    }).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    await chat.send('Go on.').result();
    expect(chat.messages).toHaveLength(4);
  });

  test('gives an answer anew, and forgets', async () => {
    const chat = model.createChat({ system: 'Be brief.', ...short });
    expect(() => chat.regenerate()).toThrow(/no answer/);
    const { text } = await chat.send(ASK).result();
    const again = await chat.regenerate({ maxTokens: 3 }).result();
    expect(text.startsWith(again.text)).toBe(true);
    expect(chat.messages).toHaveLength(3);
    chat.reset();
    expect(chat.messages).toEqual([{ role: 'system', content: 'Be brief.' }]);
  });

  test('does not remember an answer that was to come when it was reset', async () => {
    const chat = model.createChat({ system: 'Be brief.', ...short });
    for await (const _piece of chat.send(ASK)) chat.reset();
    expect(chat.messages).toEqual([{ role: 'system', content: 'Be brief.' }]);
    await chat.send(ASK).result();
    expect(chat.messages).toHaveLength(3);
    const again = chat.regenerate();
    chat.reset();
    expect((await failure(again.result())).message).toContain('no answer');
    expect(chat.messages).toEqual([{ role: 'system', content: 'Be brief.' }]);
    await chat.dispose();
  });

  test('leaves no session behind when it is disposed of while an answer begins', async () => {
    const { kvCacheBytes } = await model.memory();
    for (const wait of [() => undefined, () => Promise.resolve(), () => model.tokenize('a')]) {
      const chat = model.createChat(short);
      const answering = failure(chat.send(ASK).result());
      await wait();
      await chat.dispose();
      expect((await answering).code).toBe('DISPOSED');
    }
    const chat = model.createChat(short);
    const answering = chat.send(ASK).result();
    while ((await model.memory()).kvCacheBytes === kvCacheBytes) await model.tokenize('a');
    await chat.dispose();
    await answering.catch(() => undefined);
    expect((await model.memory()).kvCacheBytes).toBe(kvCacheBytes);
  });

  test('can be what a model generates from', async () => {
    const prompt = await model.applyChatTemplate(HELLO);
    const { text } = await model.generate(prompt, { ...short, parseSpecial: true }).result();
    let streamed = '';
    for await (const piece of model.generate({ messages: HELLO }, short)) streamed += piece.text;
    expect(streamed).toBe(text);
    const template = '{{ messages[0].content }}{{ tools[0] }}{{ mood }}';
    const own = model.generate({ messages: HELLO, template, tools: ['a'], variables: { mood: 'calm' } }, short);
    const { usage } = await own.result();
    expect(usage.promptTokens).toBe((await model.tokenize(`${String(HELLO[0]?.content)}acalm`)).length);
    expect(() => model.generate({ messages: HELLO }, { topP: 7 })).toThrow(/topP/);
    expect(() => model.generate({ messages: 'a' as unknown as [] })).toThrow(/messages/);
  });

  test('takes messages of other roles, and refuses what is none', async () => {
    const chat = model.createChat(short);
    await chat.send([{ role: 'tool', content: '4' }]).result();
    expect(chat.messages[0]).toEqual({ role: 'tool', content: '4' });
    expect(() => chat.send([{ content: 'no role' } as unknown as ChatMessage])).toThrow(/role/);
    expect(() => model.createChat({ messages: 'hello' as unknown as [] })).toThrow(/messages/);
  });
});
