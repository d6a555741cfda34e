/** Jinja's tests, as in `x is defined`. Internal. */
import { isCased } from './jinja-methods.js';
import { asNumber, binary, contains, equal } from './jinja-operators.js';
import type { Limits } from './jinja-limits.js';
import { str } from './jinja-text.js';
import { Dict, Float, refuse, Sequence, Undefined, type Value } from './jinja-values.js';

type Test = (value: Value, argument: Value, limits: Limits) => Value;

const operator =
  (symbol: string): Test =>
  (value, argument, limits) =>
    binary(symbol, value, argument, limits);

const divides = (value: Value, by: Value, rest: number, limits: Limits): boolean =>
  asNumber(binary('%', value, by, limits)) === rest;

const WITHOUT_ARGUMENT: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => typeof value === 'function' || value instanceof Undefined,
  defined: (value) => !(value instanceof Undefined),
  even: (value, _, limits) => divides(value, 2, 0, limits),
  false: (value) => value === false,
  float: (value) => value instanceof Float,
  integer: (value) => typeof value === 'number',
  iterable: (value) =>
    typeof value === 'string' || value instanceof Sequence || value instanceof Dict || value instanceof Undefined,
  lower: (value, _, limits) => isCased(str(value, limits), 'toLowerCase'),
  mapping: (value) => value instanceof Dict,
  none: (value) => value === null,
  number: (value) => asNumber(value) !== undefined,
  odd: (value, _, limits) => divides(value, 2, 1, limits),
  sequence: (value) =>
    typeof value === 'string' ||
    (value instanceof Sequence && value.isIndexed) ||
    value instanceof Dict ||
    value instanceof Undefined,
  string: (value) => typeof value === 'string',
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value, _, limits) => isCased(str(value, limits), 'toUpperCase'),
};

const same: Test = equal;
const WITH_ARGUMENT: Readonly<Record<string, Test>> = {
  divisibleby: (value, by, limits) => divides(value, by, 0, limits),
  eq: same,
  equalto: same,
  '==': same,
  in: (value, whole, limits) => contains(whole, value, limits),
  sameas: (value, other) => value === other,
  ne: operator('!='),
  '!=': operator('!='),
  lt: operator('<'),
  lessthan: operator('<'),
  '<': operator('<'),
  le: operator('<='),
  '<=': operator('<='),
  gt: operator('>'),
  greaterthan: operator('>'),
  '>': operator('>'),
  ge: operator('>='),
  '>=': operator('>='),
};

/** Whether a value passes the test. */
export function applyTest(name: string, value: Value, args: readonly Value[], limits: Limits): boolean {
  limits.step();
  const takesOne = Object.hasOwn(WITH_ARGUMENT, name);
  if (!takesOne && !Object.hasOwn(WITHOUT_ARGUMENT, name)) return refuse(`the test ${name} is not supported`);
  if (args.length !== Number(takesOne)) refuse(`the test ${name} takes ${takesOne ? 'one argument' : 'no arguments'}`);
  const test = (takesOne ? WITH_ARGUMENT : WITHOUT_ARGUMENT)[name];
  return test?.(value, args[0] ?? null, limits) === true;
}
