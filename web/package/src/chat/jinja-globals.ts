/** What transformers gives every template. Internal. */
import { callable } from './jinja-arguments.js';
import type { Limits } from './jinja-limits.js';
import { Attributes, Dict, refuse, Sequence, type Value } from './jinja-values.js';
import { strftime } from './strftime.js';

const LONGEST_RANGE = 100_000;

export const GLOBALS: readonly (readonly [string, Value])[] = [
  ['range', range],
  ['namespace', namespace],
  ['dict', dict],
  callable('raise_exception message', ([message]) => refuse(String(message))),
  callable('strftime_now format', ([format]) => strftime(new Date(), String(format))),
];

function range(args: readonly Value[], _: unknown, limits: Limits): Value {
  const numbers = args.map((arg) => (typeof arg === 'number' ? arg : refuse('range() takes integers')));
  if (numbers.length < 1 || numbers.length > 3) refuse('range() takes 1 to 3 arguments');
  const [start = 0, stop = 0, step = 1] = numbers.length === 1 ? [0, ...numbers] : numbers;
  if (step === 0) refuse('range() arg 3 must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > LONGEST_RANGE) refuse(`range() gives at most ${LONGEST_RANGE} numbers`);
  // Numbers take a sixth of other elements.
  limits.list(length / 6);
  return new Sequence(
    'range',
    Array.from({ length }, (_, i) => start + i * step),
  );
}

function dict(args: readonly Value[], named: ReadonlyMap<string, Value>, limits: Limits): Dict {
  const made = new Dict();
  for (const source of args) {
    if (!(source instanceof Dict)) return refuse('dict() of something else than a dict is not supported');
    for (const [key, value] of source.map.values()) made.set(key, value);
  }
  for (const [key, value] of named) made.set(key, value);
  limits.list(4 * made.map.size);
  return made;
}

function namespace(args: readonly Value[], named: ReadonlyMap<string, Value>, limits: Limits): Value {
  const { map } = dict(args, named, limits);
  const values = new Map(Array.from(map.values(), ([key, value]) => [String(key), value]));
  return new Attributes(
    'Namespace',
    (name) => values.get(name),
    (name, value) => void values.set(name, value),
  );
}
