/** Methods of texts and dicts, as Python's. Internal. */
import { ordered, table, text, whole, type Context, type Table } from './jinja-arguments.js';
import { formatFields } from './jinja-format.js';
import type { Limits } from './jinja-limits.js';
import { rewrite } from './jinja-rewrite.js';
import {
  Dict,
  iterate,
  lengthOfText,
  list,
  offsetOf,
  refuse,
  Sequence,
  typeOf,
  Undefined,
  type Callable,
  type Value,
} from './jinja-values.js';

/** What Python takes for white space. */
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const IS_SPACE = new RegExp(`[${SPACE}]`);
const WORDS = new RegExp(`[^${SPACE}]+`, 'g');
const LINE = /[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g; // eslint-disable-line no-control-regex

export function strip(value: string, chars: Value | undefined, left: boolean, right: boolean): string {
  const set = chars === undefined || chars === null ? undefined : new Set(text(chars, 'strip arg'));
  const goes = (char: string): boolean => (set === undefined ? IS_SPACE.test(char) : set.has(char));
  let [start, end] = [0, value.length];
  const charAt = (at: number): string => String.fromCodePoint(value.codePointAt(at) ?? 0);
  while (left && start < end && goes(charAt(start))) start += charAt(start).length;
  while (right && start < end) {
    const isPair = end - start > 1 && charAt(end - 2).length === 2;
    const last = isPair ? charAt(end - 2) : value.charAt(end - 1);
    if (!goes(last)) break;
    end -= last.length;
  }
  return value.slice(start, end);
}

export const capitalize = (value: string): string => {
  const first = String.fromCodePoint(value.codePointAt(0) ?? 0);
  return value === '' ? '' : first.toUpperCase() + value.slice(first.length).toLowerCase();
};

export const lines = (value: string, limits: Limits, keepEnds = false): string[] => {
  const found = collect(value.matchAll(LINE), limits, ([line]) => line);
  // The last match is empty.
  found.pop();
  return keepEnds ? found : found.map((line) => line.replace(/\r?.$/s, (end) => (LINE_END.test(end) ? '' : end)));
};
const LINE_END = /^(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/; // eslint-disable-line no-control-regex

function collect<T>(items: Iterable<T>, limits: Limits, pick: (item: T) => string): string[] {
  const found: string[] = [];
  for (const item of items) {
    found.push(pick(item));
    if (found.length % 1000 === 0) limits.list(1000);
    if (found.length > 100_000) limits.list(found.length);
  }
  return found;
}

function split(value: string, separator: Value | undefined, most: number, fromRight: boolean, limits: Limits): Value {
  limits.text(value.length);
  let found: string[];
  if (separator === undefined || separator === null) {
    const words = collect(value.matchAll(WORDS), limits, ([word]) => word);
    if (most < 0 || words.length <= most) return list(words);
    // What is left over keeps its white space but for that at the cut.
    const kept = fromRight ? words.slice(words.length - most) : words.slice(0, most);
    let rest = strip(value, undefined, !fromRight, fromRight);
    for (const word of fromRight ? kept.toReversed() : kept) {
      const at = fromRight ? rest.length - word.length : word.length;
      rest = strip(fromRight ? rest.slice(0, at) : rest.slice(at), undefined, !fromRight, fromRight);
    }
    return list(fromRight ? [rest, ...kept] : [...kept, rest]);
  }
  const by = text(separator, 'separator');
  if (by === '') refuse('empty separator');
  found = [];
  let rest = value;
  while (most < 0 || found.length < most) {
    const at = fromRight ? rest.lastIndexOf(by) : rest.indexOf(by);
    if (at < 0) break;
    found.push(fromRight ? rest.slice(at + by.length) : rest.slice(0, at));
    rest = fromRight ? rest.slice(0, at) : rest.slice(at + by.length);
    limits.list(1);
    if (found.length >= 100_000) limits.list(found.length + 1);
  }
  found = [...found, rest];
  return list(fromRight ? found.reverse() : found);
}

export function replace(value: string, old: string, by: string, most: number, limits: Limits): string {
  if (most === 0) return value;
  limits.scan(value.length);
  const count = most < 0 ? occurrences(value, old) : Math.min(most, occurrences(value, old));
  limits.text(0, value.length + count * (by.length - old.length));
  let left = count;
  const pattern = old === '' ? /(?:)/gu : new RegExp(old.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g');
  return rewrite(value, pattern, () => (left-- > 0 ? by : old), limits);
}

function occurrences(value: string, part: string): number {
  if (part === '') return lengthOfText(value) + 1;
  let count = 0;
  for (let at = value.indexOf(part); at >= 0; at = value.indexOf(part, at + part.length)) count += 1;
  return count;
}

export function join(separator: string, items: readonly string[], limits: Limits): string {
  let length = separator.length * Math.max(0, items.length - 1);
  for (const item of items) length += item.length;
  limits.text(length);
  return items.join(separator);
}

function find(value: string, args: readonly (Value | undefined)[], last: boolean, { limits }: Context): number {
  const part = text(args[0], 'what is looked for');
  const [from = 0, to = Infinity] = args
    .slice(1)
    .map((bound) => (bound === null || bound === undefined ? undefined : whole(bound, 'bound')));
  limits.scan(value.length);
  const length = lengthOfText(value);
  const clip = (bound: number): number =>
    offsetOf(value, Math.min(Math.max(bound < 0 ? bound + length : bound, 0), length));
  if (from > length) return -1;
  const [start, end] = [clip(from), clip(to)];
  const at = last ? value.slice(start, end).lastIndexOf(part) : value.slice(start, end).indexOf(part);
  return at < 0 || start > end ? -1 : lengthOfText(value, start + at);
}

function touches(value: string, parts: Value | undefined, method: 'startsWith' | 'endsWith'): boolean {
  if (parts instanceof Sequence && parts.kind === 'tuple') {
    return parts.items.some((part) => value[method](text(part, `${method.toLowerCase()} first arg`)));
  }
  return value[method](text(parts, `${method.toLowerCase()} first arg`));
}

/** Letters of which there is a lower or upper case. */
export const isCased = (value: string, method: 'toLowerCase' | 'toUpperCase'): boolean =>
  /[\p{Lu}\p{Ll}\p{Lt}]/u.test(value) && value[method]() === value;

const optional = (value: Value | undefined, otherwise: number): number =>
  value === undefined ? otherwise : whole(value, 'argument');
const TEXT_METHODS = table<string>({
  'strip chars': (value, [chars]) => strip(value, chars, true, true),
  'lstrip chars': (value, [chars]) => strip(value, chars, true, false),
  'rstrip chars': (value, [chars]) => strip(value, chars, false, true),
  upper: (value) => value.toUpperCase(),
  lower: (value) => value.toLowerCase(),
  capitalize: (value) => capitalize(value),
  title: (value, _, { limits }) => rewrite(value, /[\p{Lu}\p{Ll}\p{Lt}]+/gu, ([word]) => capitalize(word), limits),
  'split sep maxsplit': (value, [by, most], { limits }) => split(value, by, optional(most, -1), false, limits),
  'rsplit sep maxsplit': (value, [by, most], { limits }) => split(value, by, optional(most, -1), true, limits),
  'splitlines keepends': (value, [keep], { limits }) => list(lines(value, limits, keep === true || keep === 1)),
  'join iterable': (value, [items = null], { limits }) =>
    join(
      value,
      iterate(items, limits).map((item) => text(item, 'an item of join()')),
      limits,
    ),
  'replace old new count': (value, [old, by, count], { limits }) =>
    replace(value, text(old, 'what is replaced'), text(by, 'the replacement'), optional(count, -1), limits),
  'startswith prefix': (value, [parts]) => touches(value, parts, 'startsWith'),
  'endswith suffix': (value, [parts]) => touches(value, parts, 'endsWith'),
  'removeprefix prefix': (value, [part]) =>
    value.startsWith(text(part, 'prefix')) ? value.slice(text(part, 'prefix').length) : value,
  'removesuffix suffix': (value, [part]) =>
    value.endsWith(text(part, 'suffix')) ? value.slice(0, value.length - text(part, 'suffix').length) : value,
  'find sub start end': (value, args, context) => find(value, args, false, context),
  'rfind sub start end': (value, args, context) => find(value, args, true, context),
  'count sub': (value, [part]) => occurrences(value, text(part, 'what is counted')),
  isdigit: (value) => /^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u.test(value),
  isalpha: (value) => /^\p{L}+$/u.test(value),
  isspace: (value) => value !== '' && strip(value, undefined, true, false) === '',
  islower: (value) => isCased(value, 'toLowerCase'),
  isupper: (value) => isCased(value, 'toUpperCase'),
});

const view = (kind: 'dict_keys' | 'dict_values' | 'dict_items', items: Value[], { limits }: Context): Value => {
  limits.list(items.length);
  return new Sequence(kind, items);
};

/** Pairs of a dict. */
export const pairs = (dict: Dict): Value[] => Array.from(dict.map.values(), (pair) => new Sequence('tuple', [...pair]));

const DICT_METHODS = table<Dict>({
  'get key default': (dict, [key = null, otherwise = null]) => {
    const found = dict.get(key);
    return found === undefined ? otherwise : found;
  },
  items: (dict, _, context) => view('dict_items', pairs(dict), context),
  keys: (dict, _, context) => view('dict_keys', dict.keys(), context),
  values: (dict, _, context) =>
    view(
      'dict_values',
      Array.from(dict.map.values(), ([, value]) => value),
      context,
    ),
});

/** They change what templates may not change. */
const UNSAFE = new Set('append clear extend insert pop popitem remove reverse setdefault sort update'.split(' '));

/** The method of a value, undefined if it has none of the name. */
export function methodOf(value: Value, name: string, context: Context): Value | undefined {
  if (typeof value === 'string') {
    if (name === 'format') return (args, named) => formatFields(value, args, named, context.limits);
    return bound(TEXT_METHODS, value, name, context);
  }
  const isDict = value instanceof Dict;
  if (UNSAFE.has(name) && (isDict || (value instanceof Sequence && value.kind === 'list'))) {
    return new Undefined(`access to attribute '${name}' of '${typeOf(value)}' object is unsafe.`);
  }
  return isDict ? bound(DICT_METHODS, value, name, context) : undefined;
}

function bound<T>(methods: Table<T>, value: T, name: string, context: Context): Callable | undefined {
  const method = methods.get(name);
  if (method === undefined) return undefined;
  return (args, named) => {
    if (typeof value === 'string') context.limits.scan(value.length);
    const result = method.run(value, ordered(name, method.parameters, args, named), context);
    if (typeof result === 'string') context.limits.text(result.length);
    return result;
  };
}
