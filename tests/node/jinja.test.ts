/** Templates print what Jinja2 prints (tests/golden/jinja_cases.py), and cannot exhaust memory. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../web/package/dist/index-node.js';
import { renderChat } from '../../web/package/dist/chat/template.js';

interface Case {
  readonly name: string;
  readonly template: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Null where Jinja2 raises an error. */
  readonly expected: string | null;
}

const cases = JSON.parse(
  readFileSync(new URL('../golden/jinja-cases.json', import.meta.url), 'utf8'),
) as readonly Case[];
/** What Jinja2 can and this cannot, with what the error says. */
const UNSUPPORTED: Readonly<Record<string, string>> = { 'chains of comparisons': 'chains of comparisons' };
const TOKENS = { bosToken: '<s>', eosToken: '</s>' };

const render = (template: string, variables: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  renderChat(template, true, [], { variables }, TOKENS);

describe('as in Jinja2:', () => {
  test.each(cases)('$name', async ({ name, template, variables, expected }) => {
    const unsupported = UNSUPPORTED[name];
    if (expected !== null && unsupported === undefined) {
      expect(await render(template, variables)).toBe(expected);
      return;
    }
    const error = await render(template, variables).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KvasirError);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(unsupported ?? '') });
    // The engine's own words are a defect.
    expect((error as KvasirError).message).not.toMatch(/is not a function|Cannot read|is not iterable \(/);
  });
});

const grown = (start: string, growth: string, turns: number, shown = 'ns.a|length'): string =>
  `{% set ns = namespace(a=${start}) %}{% for i in range(${turns}) %}{% set ns.a = ${growth} %}{% endfor %}{{ ${shown} }}`;
const TEXT = /more than \d+ characters/;
const LIST = /more than 100000 elements/;
const ENDLESS = /does not come to an end|more than \d+ characters/;

describe('with little memory, an error ends', () => {
  test.each<[string, string, RegExp]>([
    ['a text that doubles by ~', grown("'aaaaaaaaaaaaaaaa'", 'ns.a ~ ns.a', 40), TEXT],
    ['a text that doubles by +', grown("'日日日日'", 'ns.a + ns.a', 40), TEXT],
    ['a text that is changed after each doubling', grown("'日a'", '(ns.a ~ ns.a)|upper', 40), TEXT],
    ['a list that doubles', grown('[1]', 'ns.a + ns.a', 40), LIST],
    ['a list of long texts', grown("['日' * 4000000]", "ns.a + [ns.a[0]|replace('日', '本')]", 60), ENDLESS],
    ['a list of itself', grown('[1]', '[ns.a, ns.a]', 60, 'ns.a'), ENDLESS],
    ['a list of itself as JSON', grown('[1]', '[ns.a, ns.a]', 60, 'ns.a|tojson'), ENDLESS],
    [
      'a list of itself that is compared',
      '{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}',
      ENDLESS,
    ],
    ['a dict of itself', grown("{'a': 1}", "{'a': ns.a, 'b': ns.a}", 60, 'ns.a'), ENDLESS],
    [
      'a dict of dicts',
      grown('{}', "{'a': ns.a}", 99999) + "{% for i in range(99999) %}{% set ns.a = {'a': ns.a} %}{% endfor %}",
      TEXT,
    ],
    ['a repeated text', "{{ ('x' * 99999999999)|length }}", TEXT],
    ['a repeated list', '{{ ([1] * 99999999999)|length }}', LIST],
    ['a wide indentation', "{{ 'a\\nb'|indent(260000000)|length }}", TEXT],
    ['many wide indentations', "{{ ('a\\n' * 1000)|indent(100000)|length }}", TEXT],
    ['an indented JSON', '{{ [[[1]]]|tojson(indent=99999999) }}', TEXT],
    ['deep lists as indented JSON', grown('[]', '[ns.a]', 900, 'ns.a|tojson(indent=90000)|length'), TEXT],
    ['a long separator', "{{ range(99999)|join('x' * 99999)|length }}", TEXT],
    ['a long separator of a method', "{{ ('日' * 99999).join('x' * 99999)|length }}", TEXT],
    ['a long replacement', "{{ ('a' * 99999)|replace('a', 'b' * 99999)|length }}", TEXT],
    ['a replacement of nothing', "{{ ('a' * 99999).replace('', 'b' * 99999)|length }}", TEXT],
    ['many words in title case', "{{ ('日 ' * 7000000)|title|title|length }}", ENDLESS],
    ['many escapes', "{{ ['\\n' * 15000000]|string|length }}", ENDLESS],
    ['many escapes of JSON', "{{ ('日' * 15000000)|tojson(true)|length }}", ENDLESS],
    ['many formats', "{{ ('%%' * 7000000)|format|length }}{{ ('%%' * 7000000)|format|length }}", ENDLESS],
    [
      'many replacements',
      "{{ ('日日' * 7000000).replace('日', '本')|length }}{{ ('日' * 7000000).replace('', '')|length }}",
      ENDLESS,
    ],
    ['a wide format', "{{ '%999999999s'|format('a')|length }}", TEXT],
    ['a wide field', "{{ '{:>999999999}'.format('a')|length }}", TEXT],
    ['many fields', "{{ ('{0}' * 99999).format('a' * 99999)|length }}", TEXT],
    ['a long range', '{{ range(99999999)|list|length }}', /at most 100000/],
    ['many ranges', grown('[]', '[ns.a, range(100000)]', 9999), /characters in all/],
    ['many parts of a text', "{{ ('a ' * 7000000).split()|length }}", LIST],
    ['many parts by a separator', "{{ ('a,' * 7000000).split(',')|length }}", LIST],
    ['many lines', "{{ ('a\\n' * 7000000).splitlines()|length }}", LIST],
    ['many letters', "{{ ('🦊' * 7000000)|list|length }}", LIST],
    ['many letters in reverse', "{{ ('🦊' * 7000000)[::-1]|length }}", LIST],
    ['long slices', grown("['a' * 9000000]", '[ns.a[0], ns.a[1:], ns.a[0][1:]]', 9999), TEXT],
    ['long output', "{% set x = 'x' * 9000000 %}{{ x }}{{ x }}", TEXT],
    ['long output of a macro', "{% macro f() %}{{ 'x' * 9000000 }}{% endmacro %}{{ f() }}{{ f() }}", TEXT],
    ['a macro that calls itself', '{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}', /nested too deeply|end/],
    [
      'macros that are kept',
      grown('[]', '[ns.a, ns.m]', 99999)
        .replace('{% set ns.a', '{% macro m() %}{{ i }}{% endmacro %}{% set ns.m = m %}{% set ns.a')
        .repeat(9),
      /characters in all|end/,
    ],
    ['namespaces that are kept', grown('[]', 'namespace(a=ns.a)', 99999, '1').repeat(9), /characters in all|end/],
    ['loops that are kept', grown('[]', '[ns.a, loop]', 99999).repeat(9), /characters in all|end/],
    ['nested loops', '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}', ENDLESS],
    [
      'nested loops with text',
      '{% for i in range(9999) %}{% for j in range(9999) %}xxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}',
      TEXT,
    ],
    [
      'searches of a long text',
      "{% set x = 'a' * 15000000 %}{% for i in range(99999) %}{{ 'b' in x }}{{ x.find('b') }}{% endfor %}",
      ENDLESS,
    ],
    [
      'searches of a long list',
      '{% set x = range(99999) %}{% for i in range(99999) %}{{ -1 in x }}{% endfor %}',
      ENDLESS,
    ],
    [
      'a list that is kept by filters',
      grown('[]', "[ns.a, 'x y z'|list|map('upper')|list]", 99999).repeat(9),
      /characters in all|end/,
    ],
    ['deep brackets', `{{ ${'['.repeat(200000)}${']'.repeat(200000)} }}`, /nested too deeply/],
    ['deep blocks', '{% if 1 %}'.repeat(200000), /nested too deeply/],
  ])(
    '%s',
    async (_name, template, words) => {
      const said = await inChild(template);
      expect(said).toMatch(/^INVALID_ARGUMENT chat template: /);
      expect(said).toMatch(words);
    },
    60_000,
  );

  test('a harmless template is rendered there', async () => {
    expect(await inChild("{{ 'x' * 3 }}")).toBe('xxx');
  });
});

/** The text or the error of a template in a process with 256 MB. */
async function inChild(template: string): Promise<string> {
  const module = new URL('../../web/package/dist/chat/template.js', import.meta.url).href;
  const script = `import { renderChat } from ${JSON.stringify(module)};
    let template = '';
    for await (const chunk of process.stdin) template += chunk;
    const tokens = { bosToken: '', eosToken: '' };
    console.log(await renderChat(template, true, [], {}, tokens).catch((error) => error.code + ' ' + error.message));`;
  const running = promisify(execFile)(process.execPath, [
    '--max-old-space-size=256',
    '--input-type=module',
    '--eval',
    script,
  ]);
  running.child.stdin?.end(template);
  return (await running).stdout.trim();
}
