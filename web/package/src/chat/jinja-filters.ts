/** Jinja's filters. Internal. */
import { ordered, table, text, whole, type Context } from './jinja-arguments.js';
import { format, pad, rounded } from './jinja-format.js';
import type { Limits } from './jinja-limits.js';
import { capitalize, join, lines, pairs, replace, strip } from './jinja-methods.js';
import { asNumber, binary, compare, equal, integer } from './jinja-operators.js';
import { rewrite } from './jinja-rewrite.js';
import { str, toJson } from './jinja-text.js';
import {
  Attributes,
  Dict,
  Float,
  generator,
  iterate,
  lengthOf,
  list,
  offsetOf,
  orUndefined,
  refuse,
  Sequence,
  truth,
  typeOf,
  Undefined,
  type Value,
} from './jinja-values.js';

type Optional = Value | undefined;

/** What `x[key]` gives, and undefined where there is nothing. */
export function itemOf(value: Value, key: Value, limits: Limits): Value | undefined {
  if (value instanceof Dict) return key instanceof Undefined || key instanceof Sequence ? undefined : value.get(key);
  if (typeof key !== 'number' && typeof key !== 'boolean') return undefined;
  if (value instanceof Sequence && value.isIndexed) return value.items.at(Number(key));
  if (typeof value !== 'string') return undefined;
  limits.scan(value.length);
  const at = Number(key) < 0 ? Number(key) + lengthOf(value) : Number(key);
  const code = at < 0 ? undefined : value.codePointAt(offsetOf(value, at));
  return code === undefined ? undefined : String.fromCodePoint(code);
}

/** By `a.b.0`, as the `attribute` of filters says it. */
function attribute(value: Value, path: Value, limits: Limits): Value {
  limits.step();
  let found = value;
  for (const part of typeof path === 'string' ? path.split('.') : [path]) {
    const key = typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part;
    if (found instanceof Undefined) refuse(found.why);
    const inner = found instanceof Attributes ? found.get(String(key)) : itemOf(found, key, limits);
    found = orUndefined(inner, `'${typeOf(found)} object' has no attribute '${String(part)}'`);
  }
  return found;
}

const given = (value: Optional): value is Value => value !== undefined && value !== null;

/** What values are sorted and compared by. */
function keyOf(path: Optional, caseSensitive: Optional, limits: Limits): (value: Value) => Value {
  return (value) => {
    const key = given(path) ? attribute(value, path, limits) : value;
    return typeof key === 'string' && !truth(caseSensitive ?? false) ? key.toLowerCase() : key;
  };
}

function sorted(value: Value, key: (value: Value) => Value, reverse: Optional, { limits }: Context): Value {
  const items = iterate(value, limits);
  limits.list(2 * items.length);
  const keyed = items.map((item) => [key(item), item] as const);
  const sign = truth(reverse ?? false) ? -1 : 1;
  // Equal things have no order: of attributes that are not there, too.
  keyed.sort(([a], [b]) => (equal(a, b, limits) ? 0 : sign * compare(a, b, limits)));
  return list(keyed.map(([, item]) => item));
}

function extreme(value: Value, sign: number, key: (value: Value) => Value, { limits }: Context): Value {
  const [first, ...rest] = iterate(value, limits);
  if (first === undefined) return new Undefined('No aggregated item, sequence was empty.');
  return rest.reduce((best, item) => (sign * compare(key(item), key(best), limits) > 0 ? item : best), first);
}

function unique(value: Value, key: (value: Value) => Value, { limits }: Context): Value {
  const seen = new Map<unknown, true>();
  const others: Value[] = [];
  return generator(
    iterate(value, limits).filter((item) => {
      const id = key(item);
      if (typeof id === 'string' || id === null) return !seen.has(id) && seen.set(id, true);
      if (id instanceof Dict || typeOf(id) === 'list') refuse(`unhashable type: '${typeOf(id)}'`);
      const isNew = !others.some((other) => equal(other, id, limits));
      if (isNew) others.push(id);
      return isNew;
    }),
  );
}

/** Of what is false there are none. */
const elements = (value: Value, { limits }: Context): readonly Value[] => (truth(value) ? iterate(value, limits) : []);

/** select, reject and those by an attribute. */
function chosen(value: Value, args: readonly Value[], wanted: boolean, byAttribute: boolean, context: Context): Value {
  const [path, ...rest] = byAttribute ? args : [null, ...args];
  if (path === undefined) return refuse('Missing parameter for attribute name');
  const [test, ...testArgs] = rest;
  context.limits.list(0);
  const items = elements(value, context).filter((item) => {
    context.limits.step();
    const tested = byAttribute ? attribute(item, path, context.limits) : item;
    return (test === undefined ? truth(tested) : context.test(text(test, 'test'), tested, testArgs)) === wanted;
  });
  context.limits.list(items.length);
  return generator(items);
}

function map(value: Value, args: readonly Value[], named: ReadonlyMap<string, Value>, context: Context): Value {
  const items = elements(value, context);
  context.limits.list(items.length);
  if (args.length === 0 && named.has('attribute')) {
    const [path = null, otherwise] = ordered('map', ['attribute', 'default'], [], named);
    return generator(
      items.map((item) => {
        const found = attribute(item, path, context.limits);
        return found instanceof Undefined && otherwise !== undefined ? otherwise : found;
      }),
    );
  }
  const [name, ...rest] = args;
  if (name === undefined) return refuse('map requires a filter argument');
  return generator(items.map((item) => context.filter(text(name, 'filter'), item, rest, named)));
}

function toInteger(value: Value, otherwise: Value, base: number): Value {
  if (typeof value === 'string') {
    const digits = strip(value, undefined, true, true).replace(/(?<=\d)_(?=\d)/g, '');
    if (base !== 10) return /^[\da-z]+$/i.test(digits) ? (parsed(parseInt(digits, base)) ?? otherwise) : otherwise;
    return toInteger(toFloat(digits, null), otherwise, 10);
  }
  const number = asNumber(value);
  if (value instanceof Undefined) refuse(value.why);
  return number === undefined ? otherwise : (parsed(number) ?? otherwise);
}

const parsed = (value: number): number | undefined => (Number.isFinite(value) ? integer(Math.trunc(value)) : undefined);

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

function toFloat(value: Value, otherwise: Value): Value {
  if (value instanceof Undefined) return refuse(value.why);
  if (typeof value !== 'string') return asNumber(value) === undefined ? otherwise : new Float(asNumber(value) ?? 0);
  const digits = strip(value, undefined, true, true).replace(/(?<=\d)_(?=\d)/g, '');
  if (NUMBER.test(digits)) return new Float(Number(digits));
  const special = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i.exec(digits);
  return special === null
    ? otherwise
    : new Float(special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity);
}

function round(value: Value, precision: number, method: Value): Value {
  const number = asNumber(value);
  if (number === undefined) return refuse(`type ${typeOf(value)} cannot be rounded`);
  if (method === 'common') {
    if (precision < 0) return refuse('rounding to a negative precision is not supported');
    if (!(value instanceof Float)) return Number(number);
    const isPlain = Math.abs(number) < 1e21;
    return new Float(isPlain ? Number(rounded(number, Math.min(precision, 100))) : number);
  }
  if (method !== 'ceil' && method !== 'floor') return refuse('method must be common, ceil or floor');
  return new Float(Math[method](number * 10 ** precision) / 10 ** precision);
}

function indent(value: string, width: Value, first: boolean, blank: boolean, { limits }: Context): string {
  const by = typeof width === 'string' ? width : pad('', '<', ' ', whole(width, 'width'), limits);
  const all = lines(`${value}\n`, limits);
  const parts = all.map((line, i) => ((i === 0 ? first : blank || line !== '') ? by : ''));
  let length = 0;
  all.forEach((line, i) => (length += line.length + 1 + (parts[i] ?? '').length));
  limits.text(length);
  return all.map((line, i) => (parts[i] ?? '') + line).join('\n');
}

function json(value: Value, [ascii, indentation, separators, sort]: readonly Optional[], { limits }: Context): string {
  const width = given(indentation)
    ? typeof indentation === 'string'
      ? indentation
      : pad('', '<', ' ', whole(indentation, 'indent'), limits)
    : undefined;
  const [comma, colon] = given(separators)
    ? iterate(separators, limits).map((separator) => text(separator, 'a separator'))
    : [width === undefined ? ', ' : ',', ': '];
  if (comma === undefined || colon === undefined) return refuse('separators must be two');
  const options = { ascii: truth(ascii ?? false), indent: width, comma, colon, sorted: truth(sort ?? false) };
  return toJson(value, options, limits);
}

function reversed(value: Value, { limits }: Context): Value {
  const items = [...iterate(value, limits)].reverse();
  limits.list(items.length);
  return typeof value === 'string' ? items.join('') : generator(items);
}

function edge(value: Value, at: 0 | -1, { limits }: Context): Value {
  const why = `No ${at === 0 ? 'first' : 'last'} item, sequence was empty.`;
  if (typeof value === 'string')
    return (at === 0 ? /^./su : /.$/su).exec(value.slice(at === 0 ? 0 : -2).slice(0, 2))?.[0] ?? new Undefined(why);
  if (value instanceof Sequence && value.kind === 'generator') {
    return at === 0 ? orUndefined(value.items.shift(), why) : refuse("'generator' object is not reversible");
  }
  return orUndefined(iterate(value, limits).at(at), why);
}

const soft =
  (change: (value: string, args: readonly Optional[], context: Context) => Value) =>
  (value: Value, args: readonly Optional[], context: Context): Value => {
    const string = str(value, context.limits);
    context.limits.scan(string.length);
    const result = change(string, args, context);
    if (typeof result === 'string') context.limits.text(result.length);
    return result;
  };

const fallback = (value: Value, [otherwise = '', boolean = false]: readonly Optional[]): Value =>
  value instanceof Undefined || (truth(boolean) && !truth(value)) ? otherwise : value;

const length = (value: Value): Value => lengthOf(value);

const FILTERS = table<Value>({
  abs: (value) => {
    const number = Math.abs(asNumber(value) ?? refuse(`bad operand type for abs(): '${typeOf(value)}'`));
    return value instanceof Float ? new Float(number) : number;
  },
  capitalize: soft(capitalize),
  count: length,
  'd default_value boolean': fallback,
  'default default_value boolean': fallback,
  'dictsort case_sensitive by reverse': (value, [sensitive, by = 'key', reverse], context) => {
    if (!(value instanceof Dict)) return refuse(`'${typeOf(value)}' object has no attribute 'items'`);
    if (by !== 'key' && by !== 'value') refuse('You can only sort by either "key" or "value"');
    return sorted(list(pairs(value)), keyOf(by === 'key' ? 0 : 1, sensitive, context.limits), reverse, context);
  },
  first: (value, _, context) => edge(value, 0, context),
  last: (value, _, context) => edge(value, -1, context),
  'float default': (value, [otherwise = new Float(0)]) => toFloat(value, otherwise),
  'int default base': (value, [otherwise = 0, base = 10]) => toInteger(value, otherwise, whole(base, 'base')),
  'indent width first blank': (value, [width = 4, first = false, blank = false], context) =>
    indent(text(value, 'what is indented'), width, truth(first), truth(blank), context),
  items: (value, _, { limits }) => {
    if (value instanceof Undefined) return generator([]);
    if (!(value instanceof Dict)) return refuse('Can only get item pairs from a mapping.');
    limits.list(value.map.size);
    return generator(pairs(value));
  },
  'join d attribute': (value, [by = '', path], { limits }) => {
    const items = iterate(value, limits).map((item) => str(given(path) ? attribute(item, path, limits) : item, limits));
    return join(str(by, limits), items, limits);
  },
  length,
  list: (value, _, { limits }) => {
    const items = [...iterate(value, limits)];
    limits.list(items.length);
    return list(items);
  },
  lower: soft((value) => value.toLowerCase()),
  upper: soft((value) => value.toUpperCase()),
  'max case_sensitive attribute': (value, [sensitive, path], context) =>
    extreme(value, 1, keyOf(path, sensitive, context.limits), context),
  'min case_sensitive attribute': (value, [sensitive, path], context) =>
    extreme(value, -1, keyOf(path, sensitive, context.limits), context),
  'replace old new count': soft((value, [old = null, by = null, count], { limits }) =>
    replace(value, str(old, limits), str(by, limits), given(count) ? whole(count, 'count') : -1, limits),
  ),
  reverse: (value, _, context) => reversed(value, context),
  'round precision method': (value, [precision = 0, method = 'common']) =>
    round(value, whole(precision, 'precision'), method),
  safe: (value, _, { limits }) => str(value, limits),
  'sort reverse case_sensitive attribute': (value, [reverse, sensitive, path], context) =>
    sorted(value, keyOf(path, sensitive, context.limits), reverse, context),
  string: (value, _, { limits }) => str(value, limits),
  'sum attribute start': (value, [path, start = 0], { limits }) =>
    iterate(value, limits).reduce(
      (sum, item) => binary('+', sum, given(path) ? attribute(item, path, limits) : item, limits),
      start,
    ),
  title: soft((value, _, { limits }) => rewrite(value, /[^-\s({[<]+/g, ([word]) => capitalize(word), limits)),
  'tojson ensure_ascii indent separators sort_keys': json,
  'trim chars': soft((value, [chars]) => strip(value, chars, true, true)),
  'unique case_sensitive attribute': (value, [sensitive, path], context) =>
    unique(value, keyOf(path, sensitive, context.limits), context),
});

/** Applies a filter. */
export function applyFilter(
  name: string,
  value: Value,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
  context: Context,
): Value {
  context.limits.step();
  switch (name) {
    case 'map':
      return map(value, args, named, context);
    case 'select':
    case 'reject':
      return chosen(value, args, name === 'select', false, context);
    case 'selectattr':
    case 'rejectattr':
      return chosen(value, args, name === 'selectattr', true, context);
    case 'format': {
      if (args.length > 0 && named.size > 0) refuse('format takes positional or keyword arguments, not both');
      const dict = new Dict();
      for (const [key, item] of named) dict.set(key, item);
      const all = named.size > 0 ? dict : new Sequence('tuple', [...args]);
      return format(str(value, context.limits), args, all, context.limits);
    }
  }
  const filter = FILTERS.get(name) ?? refuse(`the filter ${name} is not supported`);
  return filter.run(value, ordered(name, filter.parameters, args, named), context);
}
