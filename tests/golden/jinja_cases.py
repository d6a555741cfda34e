"""What Jinja2 makes of small templates, as transformers sets it up, for tests/node/jinja.test.ts.

Writes jinja-cases.json: of each case the name, the template, the variables, and what it gives, or null where
Jinja2 raises an error.

    python3 tests/golden/jinja_cases.py
"""
import json
import pathlib

from transformers.utils.chat_template_utils import _compile_jinja_template

DATA = {"a": 1, "b": [True, None, "x"], "f": 2.5}
MESSAGES = [{"role": "user", "content": "Hi", "n": 2}, {"role": "assistant", "content": "", "n": 1},
            {"role": "user", "content": "Bye", "n": 3}]

CASES = [
    # Printing
    ("None", "{{ m.content }}|{{ none }}|{{ x }}", {"m": {"content": None}}),
    ("booleans", "{{ true }} {{ False }} {{ m.x }} {{ not m.x }}", {"m": {"x": False}}),
    ("dicts", "{{ m }} {{ {} }} {{ {1: 'a', none: true} }}", {"m": DATA}),
    ("lists and tuples", "{{ [1, 'a', [none]] }} {{ (1, 2) }} {{ [] }}", {}),
    ("quotes in lists", "{{ m }}", {"m": ["it's", 'say "x"', "both ' and \"", "a\nb\t\\", "\x00\x7f\u00a0\u200b\U000e0001é日🦊"]}),
    ("floats", "{{ m }}", {"m": [0.1, 1e-7, 1.5e22, 1e15 + 0.5, 0.0001, 123456.75, -2.5, 1e-5, 2.5e16]}),
    ("computed floats", "{{ 1 / 4 }} {{ 4 / 2 }} {{ 1.0 }} {{ -0.0 }} {{ 2.0 * 3 }} {{ 10000000000000000.0 * 10 }}", {}),
    ("dict views", "{{ m.keys() }} {{ m.values() }} {{ m.items() }}", {"m": {"a": 1}}),
    ("~ of values", "{{ 'a' ~ m ~ none ~ 1.0 ~ x ~ ['y'] }}", {"m": {"a": "b"}}),
    ("string filter", "{{ m|string|length }} {{ none|string }} {{ 2.0|string }}", {"m": {"a": "b"}}),
    # Comparing
    ("1 is not '1'", "{{ 1 == '1' }} {{ 0 == '' }} {{ none == false }} {{ none == x }} {{ x == y }}", {}),
    ("1 is 1.0 and true", "{{ 1 == 1.0 }} {{ 1 == true }} {{ 0 == false }} {{ 2 == true }}", {}),
    ("lists and dicts", "{{ m == [1, [2]] }} {{ d == {'a': 1, 'b': 2} }} {{ [1] == (1, 2) }} {{ m != [1] }}",
     {"m": [1, [2]], "d": {"b": 2, "a": 1}}),
    ("order", "{{ 'a' < 'b' }} {{ 'B' < 'a' }} {{ [1, 2] < [1, 3] }} {{ [1] < [1, 0] }} {{ true < 2 }} {{ 2 >= 2.0 }}", {}),
    ("order by code points", "{{ '\uff5e' < '🦊' }} {{ ['🦊', '\uff5e', 'a']|sort }}", {}),
    ("order of several types", "{{ 'a' < 1 }}", {}),
    ("order of None", "{{ none < 1 }}", {}),
    ("in", "{{ 'a' in 'cat' }} {{ 1 in [1.0] }} {{ [1] in [[1]] }} {{ 'a' in {'a': 0} }} {{ 1 not in [2] }} {{ 'a' in x }}", {}),
    ("in None", "{{ 'x' in m }}", {"m": None}),
    ("in text of a number", "{{ 1 in '123' }}", {}),
    ("and, or, not", "{{ 1 and 'a' }} {{ '' or 'b' }} {{ [] or none }} {{ not [] and not '' }} {{ not 1 == 2 }}", {}),
    # Numbers
    ("% and // of negatives", "{{ -1 % 3 }} {{ 1 % -3 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7.5 % 2 }} {{ 7.5 // 2 }} {{ -6 % 3 }}", {}),
    ("** and signs", "{{ 2 ** 3 }} {{ 2 ** -1 }} {{ -2 }} {{ +3 }} {{ - 2 + 1 }} {{ 2 ** 0.5 > 1.41 }}", {}),
    ("booleans count", "{{ true + 1 }} {{ true * 3 }} {{ 'ab' * true }} {{ -true }}", {}),
    ("division by zero", "{{ 1 / 0 }}", {}),
    ("modulo zero", "{{ 1 % 0 }}", {}),
    ("repetition", "{{ 'x' * 3 }} {{ 2 * 'ab' }} {{ [1] * 2 }} {{ 'x' * -1 }}|{{ 'x' * 0 }}", {}),
    ("repetition by a float", "{{ 'x' * 1.0 }}", {}),
    ("text + number", "{{ 'a' + 1 }}", {}),
    ("number + text", "{{ 1 + 'a' }}", {}),
    ("list + tuple", "{{ [1] + (2, 3) }}", {}),
    ("list + list", "{{ [1] + [2, 3] }} {{ (1, 2) + (3, 4) }}", {}),
    # Code points
    ("length of emoji", "{{ '🦊x'|length }} {{ 'é日'|length }} {{ '🦊🦊'|count }}", {}),
    ("index of emoji", "{{ '🦊x'[1] }} {{ '🦊x'[0] }} {{ 'x🦊'[-1] }} {{ 'ab'[5] }}|{{ 'ab'[-3] }}", {}),
    ("slices of emoji", "{{ '🦊xé🐢'[1:] }} {{ '🦊xé🐢'[:-1] }} {{ '🦊xé🐢'[::-1] }} {{ '🦊xé🐢'[::2] }} {{ 'abc'[5:] }}|", {}),
    ("slices of lists", "{{ m[1:] }} {{ m[:-1] }} {{ m[::-1] }} {{ m[-2:] }} {{ m[3:1] }} {{ m[3:1:-1] }} {{ m[:2][0] }} {{ m[-100:100] }} {{ m[none:2] }}",
     {"m": [1, 2, 3, 4]}),
    ("slice step 0", "{{ m[::0] }}", {"m": [1]}),
    ("find and emoji", "{{ '🦊abc'.find('c') }} {{ 'abc'.find('d') }} {{ 'abcabc'.rfind('b') }} {{ 'abcabc'.find('a', 1) }} {{ 'abc'.find('', 4) }}", {}),
    # Methods of texts
    ("strip", "[{{ ' \n a b \t'.strip() }}] [{{ ' a '.lstrip() }}] [{{ ' a '.rstrip() }}] [{{ '\ufeffa'.strip() }}] [{{ '\x1ca\x85'.strip() }}]", {}),
    ("strip characters", "[{{ '\n\n hi \n'.strip('\n') }}] [{{ 'hi  \n\n'.rstrip('\n') }}] [{{ '\n  hi'.lstrip('\n') }}] [{{ 'abcba'.strip('ab') }}] [{{ '🦊a🦊'.strip('🦊') }}]", {}),
    ("strip None", "[{{ ' a '.strip(none) }}]", {}),
    ("strip a number", "{{ 'a'.strip(1) }}", {}),
    ("case", "{{ 'aBC dE'.capitalize() }} {{ 'ß'.upper() }} {{ 'ÀB'.lower() }} {{ \"it's ok\".title() }} {{ ''.capitalize() }}", {}),
    ("split", "{{ 'a b  c '.split() }} {{ 'a,b,,c'.split(',') }} {{ ''.split() }} {{ ''.split(',') }} {{ 'a b c'.split(' ', 1) }} {{ 'a  b  c '.split(none, 1) }}", {}),
    ("split with maxsplit", "{{ 'a-b-c'.split('-', maxsplit=1) }} {{ ' a  b c'.split(maxsplit=0) }} {{ 'abc'.split('b', 0) }}", {}),
    ("rsplit", "{{ 'a-b-c'.rsplit('-', 1) }} {{ 'a b  c '.rsplit(none, 1) }} {{ 'a b c'.rsplit() }} {{ 'a--b'.rsplit('-') }}", {}),
    ("split by nothing", "{{ 'a'.split('') }}", {}),
    ("splitlines", "{{ 'a\nb\r\nc'.splitlines() }} {{ 'a\n\n'.splitlines() }} {{ ''.splitlines() }} {{ 'a\nb'.splitlines(true) }}", {}),
    ("join", "{{ ', '.join(['a', 'b']) }} {{ '-'.join('abc') }} {{ ''.join([]) }}|", {}),
    ("join of numbers", "{{ ','.join([1]) }}", {}),
    ("replace", "{{ 'aaa'.replace('a', 'b') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '-') }} {{ 'a.b'.replace('.', '$&') }} {{ 'ab'.replace('', '-', 2) }} {{ 'aab'.replace('aa', '.*', 1) }}", {}),
    ("startswith", "{{ 'abc'.startswith('ab') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith(('x', 'bc')) }} {{ 'abc'.endswith('b') }}", {}),
    ("startswith a list", "{{ 'abc'.startswith(['a']) }}", {}),
    ("removeprefix", "{{ 'abc'.removeprefix('ab') }} {{ 'abc'.removesuffix('c') }} {{ 'abc'.removesuffix('') }} {{ 'abc'.removeprefix('x') }}", {}),
    ("kinds of texts", "{{ '12'.isdigit() }} {{ 'a1'.isalpha() }} {{ ' \n'.isspace() }} {{ 'aB'.islower() }} {{ 'AB1'.isupper() }} {{ '1'.isupper() }} {{ ''.isdigit() }}", {}),
    ("count", "{{ 'banana'.count('an') }} {{ 'ab'.count('') }}", {}),
    ("format", "{{ '{}-{}'.format('a', 1) }} {{ '{1}{0}'.format(1, 2) }} {{ '{x!r}'.format(x='a') }} {{ '{:.2f}|{:5d}|{:<4}|{:>4}|{:^5}|{:05.1f}|{:*^5}'.format(1.005, 42, 'a', 'b', 'c', 2.25, 'd') }} {{ '{{}}'.format() }}", {}),
    ("format of values", "{{ '{} {} {}'.format(none, true, [1]) }}", {}),
    ("format without arguments", "{{ '{}'.format() }}", {}),
    ("unknown method", "{{ 'a'.nothing() }}", {}),
    ("too many arguments", "{{ 'a'.upper(1) }}", {}),
    # Methods of dicts
    ("get", "{{ m.get('a') }} {{ m.get('z') }} {{ m.get('z', 5) }} {{ m.get('n', 5) }}", {"m": {"a": 1, "n": None}}),
    ("items", "{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}{{ m.items()|length }} {{ m.keys()|list }} {{ m.values()|list }}", {"m": {"b": 1, "a": 2}}),
    ("method before key", "{{ m.items is string }} {{ m['items'] is string }} {{ m.other }} {{ m['get']('items') }}", {"m": {"items": "x", "other": "y"}}),
    ("items of None", "{% for k, v in m.items() %}{% endfor %}", {"m": None}),
    ("change of a list", "{% set l = [] %}{{ l.append(1) }}", {}),
    ("change of a dict", "{{ m.update({'b': 1}) }}", {"m": {}}),
    ("dict()", "{{ dict(a=1, b='x') }} {{ dict({'a': 2}, b=3) }}", {}),
    # What is not there
    ("attribute of undefined", "{{ x.y }}", {}),
    ("attribute of an attribute", "{{ m.y.z }}", {"m": {}}),
    ("attribute of None", "{{ m.y }}|{{ m.y is defined }}", {"m": None}),
    ("attribute of text", "{{ 'a'.role }}|{{ 'a'['role'] is defined }}", {}),
    ("call of undefined", "{{ x() }}", {}),
    ("sum of undefined", "{{ x + 'a' }}", {}),
    ("loop over undefined", "{% for i in x %}a{% else %}none{% endfor %}", {}),
    ("default", "{{ x|default('d') }} {{ none|default('d') }} {{ none|default('d', true) }} {{ ''|d('e', boolean=true) }} {{ m.x|default }}|", {"m": {}}),
    ("index past the end", "{{ [1][3] }}|{{ [1][3] is defined }}|{{ [1][-1] }}", {}),
    ("if without else", "{{ 'a' if x }}|{{ 'a' if not x }}", {}),
    ("length of None", "{{ m|length }}", {"m": None}),
    # Scopes
    ("text before continue", "{% for i in [1, 2] %}a{{ i }}{% if i == 1 %}{% continue %}{% endif %}b{% endfor %}", {}),
    ("text before break", "{% for i in [1, 2] %}a{{ i }}{% break %}{% endfor %}|", {}),
    ("break of the inner loop", "{% for i in [1, 2] %}{% for j in [1, 2] %}{{ i }}{{ j }} {% break %}{% endfor %}.{% endfor %}", {}),
    ("set in a loop", "{% set y = 0 %}{% for i in [1, 2] %}{% if loop.first %}{% set x = 7 %}{% endif %}[{{ x }}]{% set y = i %}{{ y }}{% endfor %}{{ x }}{{ y }}", {}),
    ("set in an if", "{% if true %}{% set x = 1 %}{% endif %}{{ x }}", {}),
    ("set of several", "{% set a, b = 1, [2, 3] %}{{ a }}{{ b }}{% set c, d = b %}{{ d }}", {}),
    ("set of a block", "{% set x %}a{{ 1 }}{% set y = 2 %}{% endset %}[{{ x }}]{{ y }}", {}),
    ("set of a filtered block", "{% set x | upper | trim %} ab {% endset %}[{{ x }}]", {}),
    ("set of too few", "{% set a, b = [1] %}", {}),
    ("set of an attribute", "{% set m.x = 1 %}", {"m": {}}),
    ("namespace", "{% set ns = namespace(n=0, m={'a': 1}) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }} {{ ns.m.a }} {{ ns.b is defined }}", {}),
    ("with", "{% set x = 0 %}{% with x = 1, y = 2 %}{{ x }}{{ y }}{% set x = 3 %}{{ x }}{% endwith %}{{ x }}{{ y }}", {}),
    ("with inside a loop", "{% for i in [1, 2] %}{% with j = i %}{{ loop.index }}{{ j }}{% if j == 1 %}{% continue %}{% endif %}!{% endwith %}.{% endfor %}", {}),
    ("generation", "{% generation %}a{% endgeneration %}b", {}),
    ("filter block", "{% filter upper %}a{{ 'b' }}{% endfilter %}{% filter replace('a', 'c') %}aa{% endfilter %}", {}),
    ("variables over functions", "{{ range }}", {"range": "mine"}),
    # Loops
    ("loop", "{% for i in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }} {% endfor %}", {}),
    ("neighbours", "{% for i in [1, 2, 3] %}[{{ loop.previtem }},{{ loop.nextitem }},{{ loop.previtem is defined }}]{% endfor %}", {}),
    ("cycle", "{% for i in [1, 2, 3] %}{{ loop.cycle('a', 'b') }}{% endfor %}", {}),
    ("unpacking", "{% for a, b in [(1, 2), [3, 4], 'xy'] %}{{ a }}{{ b }} {% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", {}),
    ("unpacking too many", "{% for a, b in [(1, 2, 3)] %}{% endfor %}", {}),
    ("unpacking numbers", "{% for a, b in [1] %}{% endfor %}", {}),
    ("chosen turns", "{% for i in m if i.n > 1 %}{{ loop.index }}{{ i.content }}{{ loop.length }} {% else %}none{% endfor %}{% for i in [] if i %}{% else %}none{% endfor %}", {"m": MESSAGES}),
    ("loop over a dict", "{% for k in m %}{{ k }}{% endfor %}{% for k in m|dictsort %}{{ k }}{% endfor %}", {"m": {"b": 1, "a": 2}}),
    ("loop over a number", "{% for i in 5 %}{% endfor %}", {}),
    ("loop over nested lists", "{% for r in [[1, 2], [3]] %}{% set outer = loop %}{% for c in r %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}", {}),
    ("else after continue", "{% for i in [1] %}{% continue %}{% else %}none{% endfor %}", {}),
    ("range", "{{ range(3)|list }} {{ range(1, 7, 3)|list }} {{ range(3, 0, -1)|list }} {{ range(3)[1] }} {{ 2 in range(3) }}", {}),
    # Macros
    ("macro", "{% macro f(x, y=2, z=y) %}<{{ x }}{{ y }}{{ z }}>{% endmacro %}{{ f('a')|upper }}{{ f(1, 3) }}{{ f(y=5, x=0) }}{{ f() }}", {}),
    ("macro with the rest", "{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, b=4) }}", {}),
    ("macro with too much", "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", {}),
    ("macro with an unknown name", "{% macro f(a) %}{% endmacro %}{{ f(b=1) }}", {}),
    ("caller", "{% macro f(n) %}[{{ caller(n) }}{{ caller(2) }}]{% endmacro %}{% call(i) f(1) %}{{ i }}!{% endcall %}", {}),
    ("macro sees what is set later", "{% macro f() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ f() }}{% set x = 2 %}{{ f() }}", {}),
    ("recursive macro", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", {}),
    # Filters
    ("trim", "[{{ '--a-'|trim('-') }}] [{{ ' a '|trim }}] [{{ none|trim }}] [{{ x|trim }}]", {}),
    ("map", "{{ ['a', 'b']|map('upper')|join(',') }} {{ m|map(attribute='role')|list }} {{ m|map(attribute='z', default='-')|join }} {{ [' a']|map('trim')|first }} {{ m|map(attribute='n')|sum }} {{ ['a']|map('replace', 'a', 'b')|list }}", {"m": MESSAGES}),
    ("select", "{{ ['a', '', 0, 1]|select|list }} {{ [1, 2, 3]|select('odd')|list }} {{ [1, 2, 3]|reject('equalto', 2)|list }} {{ [1, 2, 3]|select('>', 1)|list }} {{ ['a', 1]|select('string')|list }}", {}),
    ("selectattr", "{{ m|selectattr('role', 'equalto', 'user')|list|length }} {{ m|rejectattr('content')|map(attribute='n')|list }} {{ m|selectattr('role', 'in', ['assistant'])|list|length }} {{ m|selectattr('z', 'defined')|list }} {{ m|selectattr('n', 'ge', 2)|map(attribute='n')|join('+') }}", {"m": MESSAGES}),
    ("generators are read once", "{% set g = [1, 2]|select %}{{ g|list }}{{ g|list }}{{ 'true' if []|select }}", {}),
    ("length of a generator", "{{ [1]|select|length }}", {}),
    ("first and last", "{{ 'abc'|first }}{{ 'ab🦊'|last }} {{ [1, 2]|last }} {{ []|first }}|{{ []|first is defined }} {{ {'a': 1}|first }}", {}),
    ("join", "{{ [1, none, 'a']|join('-') }} {{ 'abc'|join(',') }} {{ m|join(', ', attribute='role') }} {{ [1, 2]|join(d=' ') }}", {"m": MESSAGES}),
    ("format filter", "{{ '%s-%s'|format('a', 1) }} {{ '%05.1f|%3d|%-3d|%x|%r|%%'|format(2.25, 7, 7, 255, 'a') }} {{ '%(a)s'|format(a=1) }} {{ '%s' % 'b' }} {{ '%s %s' % ('c', 1.0) }} {{ '%+d % d'|format(3, 4) }}", {}),
    ("format filter with too little", "{{ '%s-%s'|format('a') }}", {}),
    ("format filter with too much", "{{ '%s'|format('a', 1) }}", {}),
    ("indent", "{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\n\nb'|indent(1, blank=true) }}|{{ 'a\nb'|indent('> ') }}|{{ 'a\n'|indent(2) }}|", {}),
    ("replace filter", "{{ 'aaa'|replace('a', 'b', 2) }} {{ 'aaa'|replace('a', 'b') }} {{ 112|replace(1, 3) }}", {}),
    ("int", "{{ '42'|int }} {{ '3.7'|int }} {{ 'x'|int }} {{ 'x'|int(5) }} {{ -3.7|int }} {{ none|int }} {{ true|int }} {{ ' 7 '|int }} {{ 'ff'|int(0, 16) }} {{ '1_000'|int }}", {}),
    ("float", "{{ '1.5'|float }} {{ 3|float }} {{ 'x'|float }} {{ 'x'|float(none) }} {{ '1e3'|float }} {{ '.5'|float }} {{ '-inf'|float }}", {}),
    ("round", "{{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ 2.19|round(1, 'floor') }} {{ 42|round }} {{ 0.125|round(2) }} {{ -0.4|round }}", {}),
    ("abs, min, max, sum", "{{ -3|abs }} {{ -2.5|abs }} {{ [3, 1, 2]|min }} {{ ['b', 'A']|max }} {{ [1, 2.5]|sum }} {{ m|sum(attribute='n') }} {{ [[1], [2]]|sum(start=[]) }} {{ []|max }}| {{ (m|max(attribute='n')).content }}", {"m": MESSAGES}),
    ("sort", "{{ [3, 1, 2]|sort }} {{ ['b', 'A', 'c']|sort }} {{ ['b', 'A']|sort(case_sensitive=true) }} {{ [1, 2]|sort(true) }} {{ m|sort(attribute='n')|map(attribute='content')|list }} {{ {'b': 1, 'a': 2}|sort }}", {"m": MESSAGES}),
    ("sort of several types", "{{ [1, 'a']|sort }}", {}),
    ("unique", "{{ [1, 2, 1, 'a', 'A', 1.0]|unique|list }} {{ m|unique(attribute='role')|map(attribute='n')|list }}", {"m": MESSAGES}),
    ("dictsort", "{{ m|dictsort }} {{ m|dictsort(by='value') }} {{ m|dictsort(true) }} {{ m|dictsort(reverse=true)|first }}", {"m": {"b": 1, "C": 3, "a": 2}}),
    ("items filter", "{% for k, v in m|items %}{{ k }}{{ v }}{% endfor %}{{ x|items|list }}", {"m": {"a": 1}}),
    ("items filter of a list", "{{ [1]|items|list }}", {}),
    ("list", "{{ 'ab🦊'|list }} {{ {'a': 1}|list }} {{ (1, 2)|list }} {{ x|list }}", {}),
    ("reverse", "{{ [1, 2]|reverse|list }} {{ 'ab🦊'|reverse }}", {}),
    ("case filters", "{{ 'aBC'|capitalize }} {{ \"it's ok-then (yes) x\"|title }} {{ none|upper }} {{ 1|lower }} {{ 'a'|upper|lower }}", {}),
    ("length of all", "{{ [1, 2]|length }} {{ {'a': 1}|length }} {{ (1, 2)|count }} {{ x|length }}", {}),
    ("unknown filter", "{{ 1|nothing }}", {}),
    ("filter with too much", "{{ 'a'|upper(1) }}", {}),
    ("safe", "{{ '<a>'|safe }}", {}),
    # JSON
    ("tojson", "{{ m|tojson }} {{ 'é<>&\\'\"\u2028\x7f'|tojson }} {{ [1, 2.5, none, true, 1e-7]|tojson }} {{ (1, 2)|tojson }} {{ {1: 2, none: 3, true: 4}|tojson }}".replace("1e-7", "0.5"), {"m": DATA}),
    ("tojson of floats", "{{ m|tojson }}", {"m": [1e-7, 1.5e22, 2.0e16 + 2, 0.1]}),
    ("tojson indented", "{{ m|tojson(indent=2) }} {{ {}|tojson(indent=2) }} {{ [[], {}]|tojson(indent=1) }} {{ [1]|tojson(indent=0) }}", {"m": {"a": [1, {"b": 2}], "c": {}}}),
    ("tojson with separators", "{{ m|tojson(separators=(',', ':')) }} {{ m|tojson(indent=4, separators=(', ', ' = ')) }}", {"m": {"a": [1, 2], "b": 3}}),
    ("tojson sorted", "{{ m|tojson(sort_keys=true) }}", {"m": {"b": 1, "B": 2, "a": {"z": 1, "y": 2}, "é": 0}}),
    ("tojson in ASCII", "{{ 'é🦊\x7f'|tojson(ensure_ascii=true) }} {{ {'é': 1}|tojson(true) }} {{ m|tojson(4) }}", {"m": {"a": "é"}}),
    ("tojson of undefined", "{{ x|tojson }}", {}),
    ("tojson of a view", "{{ {'a': 1}.keys()|tojson }}", {}),
    # Tests
    ("tests of kinds", "{% for v in m %}{{ v is string }}{{ v is number }}{{ v is integer }}{{ v is float }}{{ v is boolean }}{{ v is mapping }}{{ v is sequence }}{{ v is iterable }}{{ v is none }}{{ v is true }}{{ v is false }} {% endfor %}", {"m": ["a", 1, 2.5, True, False, None, [1], {"a": 1}]}),
    ("tests of undefined", "{{ x is defined }}{{ x is undefined }}{{ x is none }}{{ x is iterable }}{{ x is string }}{{ x is not defined }}", {}),
    ("tests with arguments", "{{ 4 is divisibleby(2) }} {{ 4 is divisibleby 3 }} {{ 1 is eq 1.0 }} {{ 'a' is equalto 'b' }} {{ 1 is sameas 1 }} {{ 2 is gt 1 }} {{ 2 is le(1) }} {{ 2 is not ne(2) }}", {}),
    ("test in", "{{ 'a' is in ['a'] }} {{ 'a' is not in ['a'] }} {{ 'a' is in m.b }} {{ 1 is in(m.b) }} {{ 'x' is in m['b'][2] }}", {"m": DATA}),
    ("tests among operators", "{{ x is defined and true }} {{ not x is defined }} {{ x is not defined or y.z }} {{ 1 if m.a is not none else 2 }} {{ 1 is odd == true }} {{ (m.a is defined)|string }} {{ -1 is odd }}", {"m": DATA}),
    ("odd and even", "{{ 3 is odd }} {{ -3 is odd }} {{ 2 is even }} {{ 2.0 is even }}", {}),
    ("odd text", "{{ 'a' is odd }}", {}),
    ("lower and upper", "{{ 'ab1' is lower }} {{ 'AB' is upper }} {{ '1' is lower }} {{ 'aB' is upper }}", {}),
    ("callable", "{% macro f() %}{% endmacro %}{{ f is callable }} {{ 'a'.upper is callable }} {{ 1 is callable }}", {}),
    ("unknown test", "{{ 1 is nothing }}", {}),
    # Source
    ("raw", "{% raw %}{{ x }} {% if %}{% endraw %}|{%- raw -%}  a  {%- endraw -%}  |", {}),
    ("comments", "a{# {{ x }} #}b  {#- c -#}  d\n  {# e #}\nf", {}),
    ("trim_blocks", "{% if true %}\n  a\n{% endif %}\nb\n\n{{ 1 }}\nc\n", {}),
    ("lstrip_blocks", "a\n   {% if true %}b{% endif %}\n   {{ 1 }}\n\t{# c #}\nd  {% if true %}e{% endif %}", {}),
    ("plain text is left alone", "a-}\nb #}\n x\n  {- y %}\nz\n", {}),
    ("plus keeps white space", "x\n  {%+ if true %}y{% endif +%}\nz", {}),
    ("minus", "a  {{- 1 -}}  b {%- if true -%} c {%- endif %} d", {}),
    ("line endings", "a\r\n{% if true %}\r\nb\r{% endif %}\r\n", {}),
    ("ends inside texts", "{{ '}}' }}{{ \"%}\" }}{{ {'a': {'b': '{{'}}['a'] }}{% set x = '{% x %}' %}{{ x }}", {}),
    ("escapes", r"{{ '\n\t\\\'\x41\u00e9\U0001F98A\d\101\a' }}|{{ 'a' 'b' }}", {}),
    ("attributes by number", "{{ m.b.2 }} {{ m['b'][0] }} {{ m.b[-1] }}", {"m": DATA}),
    ("chained calls", "{{ m.s.strip().split('-')[1].upper() }} {{ (m.s|trim).startswith('a') }} {{ m.s|trim|length }}", {"m": {"s": " a-b "}}),
    ("precedence", "{{ 1 + 2 * 3 }} {{ 'a' ~ 1 * 2 }} {{ 1 + 2 == 3 and not false }} {{ 2 * 3 % 4 }} {{ -2 ** 2 }} {{ 'a' if false else 'b' if false else 'c' }} {{ 10 - 2 - 3 }}", {}),
    ("chains of comparisons", "{{ 1 < 2 < 3 }}", {}),
    ("~ before + and after *", "{{ 'a' + 1 ~ 2 }} {{ 'a' ~ 2 * 3 ~ 'b' }} {{ ('a' ~ 1) * 2 }} {{ 'n' ~ 7 // 2 ~ 7 % 4 }}", {}),
    ("* and ~ in calls", "{% macro f(a, b) %}{{ a ~ b }}{% endmacro %}{{ 'x' ~ f(*[1, 2]) ~ f(1, **{'b': 2}) ~ 2 * 2 }}", {}),
    ("undefined is callable", "{{ x is callable }}", {}),
    ("safe of a list", "{{ ([1, 2]|safe)[1:2] }}", {}),
    ("sort by what is not there", "{{ m|sort(attribute='z')|length }}", {"m": MESSAGES}),
    ("filters of what is false", "{{ 0|map('upper')|list }}{{ none|select|list }}{{ false|selectattr('a')|list }}", {}),
    ("keys that are not there", "{{ m[x] }}|{{ m[[1]] }}|{{ m.a[x] }}|", {"m": {"a": [1]}}),
    ("slice of a dict", "{{ m[1:] }}", {"m": {}}),
    ("keyword arguments unpacked", "{% macro f(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 3, 'b': 4}) }}", {}),
    ("no end", "{% if true %}", {}),
    ("no end of a loop", "{% for i in [] %}", {}),
    ("unknown statement", "{% nothing %}", {}),
    ("break without a loop", "a{% break %}", {}),
    ("dunder", "{{ ''.__class__ is defined }}{{ m.__init__ is defined }}{{ ().__class__ is defined }}".replace("()", "(1, 2)"), {"m": {}}),
    ("namespace is no dict", "{% set ns = namespace(items=1) %}{{ ns.items }}{{ ns is mapping }}", {}),
    ("raise_exception", "{{ raise_exception('no') }}", {}),
]


def render(template, variables):
    try:
        return _compile_jinja_template(template).render(**variables)
    except Exception as error:  # whatever Python raises, the template has no text
        print(f"    refused: {type(error).__name__}: {error}")
        return None


def main():
    cases = []
    for name, template, variables in CASES:
        print(name)
        cases.append({"name": name, "template": template, "variables": variables, "expected": render(template, variables)})
    path = pathlib.Path(__file__).parent / "jinja-cases.json"
    path.write_text(json.dumps(cases, ensure_ascii=True, indent=2) + "\n")


if __name__ == "__main__":
    main()
