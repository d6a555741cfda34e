/** The values that templates compute with, as Python knows them. Internal. */
import type { Limits } from './jinja-limits.js';

/** A template's own refusal, or something that it cannot have; the message says what. */
export class TemplateError extends Error {}

export function refuse(message: string): never {
  throw new TemplateError(message);
}

export class Float {
  constructor(readonly value: number) {}
}

/** What is not there: an empty text, but nothing can be read of it. */
export class Undefined {
  constructor(readonly why: string) {}
}

type Kind = 'list' | 'tuple' | 'range' | 'dict_keys' | 'dict_values' | 'dict_items' | 'generator';

/** Elements in order. Those of a generator are there until they are read. */
export class Sequence {
  constructor(
    readonly kind: Kind,
    readonly items: Value[],
  ) {}
  get isIndexed(): boolean {
    return this.kind === 'list' || this.kind === 'tuple' || this.kind === 'range';
  }
}

type Key = string | number | null;

export class Dict {
  readonly map = new Map<Key, readonly [key: Value, value: Value]>();

  get(key: Value): Value | undefined {
    return this.map.get(hashed(key))?.[1];
  }
  set(key: Value, value: Value): this {
    const id = hashed(key);
    // Python keeps the first of equal keys.
    this.map.set(id, [this.map.get(id)?.[0] ?? key, value]);
    return this;
  }
  keys(): Value[] {
    return Array.from(this.map.values(), ([key]) => key);
  }
}

/** Attributes by name: `namespace()`, and the loop of a turn. */
export class Attributes {
  constructor(
    readonly name: 'Namespace' | 'LoopContext',
    readonly get: (name: string) => Value | undefined,
    readonly set?: (name: string, value: Value) => void,
  ) {}
}

/** A macro, a method or a function. */
export type Callable = (args: readonly Value[], named: ReadonlyMap<string, Value>, limits: Limits) => Value;

/** Numbers are Python's int, of which those up to 2^53 are known. */
export type Value = null | boolean | number | string | Float | Undefined | Sequence | Dict | Attributes | Callable;

export const list = (items: Value[]): Sequence => new Sequence('list', items);
export const generator = (items: Value[]): Sequence => new Sequence('generator', items);

function hashed(key: Value): Key {
  if (key === null || typeof key === 'string' || typeof key === 'number') return key;
  if (typeof key === 'boolean') return Number(key);
  if (key instanceof Float) return key.value;
  return refuse(`a ${typeOf(key)} as the key of a dict is not supported`);
}

export function typeOf(value: Value): string {
  if (value === null) return 'NoneType';
  if (value instanceof Float) return 'float';
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Sequence) return value.kind;
  if (value instanceof Dict) return 'dict';
  if (value instanceof Attributes) return value.name;
  return { boolean: 'bool', number: 'int', string: 'str' }[typeof value as string] ?? 'function';
}

/** Values of the caller, which are copied: what a template does stays with it. */
export function fromJs(value: unknown): Value {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : new Float(value);
  if (Array.isArray(value)) return list(value.map(fromJs));
  if (typeof value !== 'object') return refuse(`a ${typeof value} cannot be given to a template`);
  const dict = new Dict();
  for (const [key, item] of Object.entries(value)) if (item !== undefined) dict.set(key, fromJs(item));
  return dict;
}

export function truth(value: Value): boolean {
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Undefined) return false;
  if (value instanceof Sequence) return value.kind === 'generator' || value.items.length > 0;
  if (value instanceof Dict) return value.map.size > 0;
  return Boolean(value);
}

/** For where null, which is None, is a value as well. */
export const orUndefined = (value: Value | undefined, why: string): Value =>
  value === undefined ? new Undefined(why) : value;

/** What a loop goes over. */
export function iterate(value: Value, limits: Limits): readonly Value[] {
  if (value instanceof Sequence) return value.kind === 'generator' ? value.items.splice(0) : value.items;
  if (value instanceof Undefined) return [];
  if (value instanceof Dict) return value.keys();
  if (typeof value !== 'string') return refuse(`'${typeOf(value)}' object is not iterable`);
  limits.list(lengthOfText(value));
  return Array.from(value);
}

export function lengthOf(value: Value): number {
  if (value instanceof Sequence && value.kind !== 'generator') return value.items.length;
  if (value instanceof Undefined) return 0;
  if (value instanceof Dict) return value.map.size;
  return typeof value === 'string' ? lengthOfText(value) : refuse(`object of type '${typeOf(value)}' has no len()`);
}

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/;

/** In code points, up to `end` UTF-16 units. */
export function lengthOfText(text: string, end = text.length): number {
  if (!PAIRS.test(text)) return end;
  let count = 0;
  for (let i = 0; i < end; count++) i += widthAt(text, i);
  return count;
}

/** Where the code point `index` is, in UTF-16 units. */
export function offsetOf(text: string, index: number): number {
  if (!PAIRS.test(text)) return index;
  let at = 0;
  for (let i = 0; i < index; i++) at += widthAt(text, at);
  return at;
}

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

export function slice(value: Value, bounds: readonly Value[], limits: Limits): Value {
  if (!(typeof value === 'string' || (value instanceof Sequence && value.isIndexed))) {
    return refuse(`'${typeOf(value)}' object is not subscriptable`);
  }
  const length = lengthOf(value);
  const [from, to, by] = bounds.map((bound) =>
    bound === null ? undefined : typeof bound === 'number' ? bound : refuse('slice indices must be integers or None'),
  );
  const step = by ?? 1;
  if (step === 0) refuse('slice step cannot be zero');
  const [lowest, highest] = step > 0 ? [0, length] : [-1, length - 1];
  const clip = (bound: number | undefined, otherwise: number): number =>
    bound === undefined ? otherwise : Math.min(Math.max(bound < 0 ? bound + length : bound, lowest), highest);
  const start = clip(from, step > 0 ? lowest : highest);
  const stop = clip(to, step > 0 ? highest : lowest);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (typeof value === 'string' && step === 1) {
    limits.text(value.length);
    return count === 0 ? '' : value.slice(offsetOf(value, start), offsetOf(value, stop));
  }
  limits.list(count);
  const items = typeof value === 'string' ? iterate(value, limits) : value.items;
  const taken = Array.from({ length: count }, (_, i) => items[start + i * step] ?? null);
  return value instanceof Sequence ? new Sequence(value.kind, taken) : taken.join('');
}
