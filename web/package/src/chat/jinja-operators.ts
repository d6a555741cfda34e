/** Operators, as Python's. Internal. */
import { format } from './jinja-format.js';
import type { Limits } from './jinja-limits.js';
import { compareTexts, str } from './jinja-text.js';
import { Dict, Float, iterate, refuse, Sequence, typeOf, Undefined, type Value } from './jinja-values.js';

export function asNumber(value: Value): number | undefined {
  if (value instanceof Float) return value.value;
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : undefined;
}

export function integer(value: number): number {
  // Not -0, which Python's int does not have.
  return Number.isSafeInteger(value) ? value + 0 : refuse('integers beyond 2^53 are not supported');
}

export function equal(a: Value, b: Value, limits: Limits): boolean {
  limits.step();
  if (a === b) return true;
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x !== undefined && y !== undefined) return x === y;
  if (a instanceof Undefined) return b instanceof Undefined;
  if (a instanceof Sequence && b instanceof Sequence) {
    if (a.kind === 'generator' || a.kind !== b.kind || a.items.length !== b.items.length) return false;
    return a.items.every((item, i) => equal(item, b.items[i] ?? null, limits));
  }
  if (!(a instanceof Dict && b instanceof Dict) || a.map.size !== b.map.size) return false;
  return Array.from(a.map).every(([id, [, item]]) => {
    const other = b.map.get(id);
    return other !== undefined && equal(item, other[1], limits);
  });
}

/** Less than 0 where `a` comes first; NaN where neither does. */
export function compare(a: Value, b: Value, limits: Limits): number {
  limits.step();
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x !== undefined && y !== undefined) return x === y ? 0 : x - y;
  if (typeof a === 'string' && typeof b === 'string') {
    limits.scan(Math.min(a.length, b.length));
    return compareTexts(a, b);
  }
  if (
    a instanceof Sequence &&
    b instanceof Sequence &&
    a.kind === b.kind &&
    (a.kind === 'list' || a.kind === 'tuple')
  ) {
    const at = a.items.findIndex((item, i) => i >= b.items.length || !equal(item, b.items[i] ?? null, limits));
    if (at < 0) return a.items.length - b.items.length;
    return at >= b.items.length ? 1 : compare(a.items[at] ?? null, b.items[at] ?? null, limits);
  }
  return undefinedOr(`'<' not supported between instances of '${typeOf(a)}' and '${typeOf(b)}'`, a, b);
}

export function contains(whole: Value, part: Value, limits: Limits): boolean {
  if (typeof whole === 'string') {
    if (typeof part !== 'string') {
      return undefinedOr(`'in <string>' requires string as left operand, not ${typeOf(part)}`, part);
    }
    limits.scan(whole.length + part.length);
    return whole.includes(part);
  }
  if (whole instanceof Dict) return whole.get(part) !== undefined;
  return iterate(whole, limits).some((item) => equal(item, part, limits));
}

export function binary(operator: string, a: Value, b: Value, limits: Limits): Value {
  switch (operator) {
    case '==':
      return equal(a, b, limits);
    case '!=':
      return !equal(a, b, limits);
    case '<':
      return compare(a, b, limits) < 0;
    case '>':
      return compare(a, b, limits) > 0;
    case '<=':
      return compare(a, b, limits) <= 0;
    case '>=':
      return compare(a, b, limits) >= 0;
    case 'in':
      return contains(b, a, limits);
    case 'not in':
      return !contains(b, a, limits);
    case '~':
      return joined(str(a, limits), str(b, limits), limits);
    default:
      return arithmetic(operator, a, b, limits);
  }
}

function joined(a: string, b: string, limits: Limits): string {
  limits.text(a.length + b.length);
  return a + b;
}

function arithmetic(operator: string, a: Value, b: Value, limits: Limits): Value {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x !== undefined && y !== undefined) {
    const value = calculate(operator, x, y);
    const isFloat = a instanceof Float || b instanceof Float || operator === '/' || (operator === '**' && y < 0);
    return isFloat ? new Float(value) : integer(value);
  }
  if (operator === '+') {
    if (typeof a === 'string' && typeof b === 'string') return joined(a, b, limits);
    if (
      a instanceof Sequence &&
      b instanceof Sequence &&
      a.kind === b.kind &&
      (a.kind === 'list' || a.kind === 'tuple')
    ) {
      limits.list(a.items.length + b.items.length);
      return new Sequence(a.kind, [...a.items, ...b.items]);
    }
  }
  if (operator === '*') return y === undefined ? repeated(b, a, limits) : repeated(a, b, limits);
  if (operator === '%' && typeof a === 'string') {
    if (b instanceof Undefined) refuse(b.why);
    return format(a, b instanceof Sequence && b.kind === 'tuple' ? b.items : [b], b, limits);
  }
  return unsupported(operator, a, b);
}

function calculate(operator: string, x: number, y: number): number {
  if (y === 0 && (operator === '/' || operator === '//' || operator === '%')) refuse('division by zero');
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    case '//':
      return Math.round((x - modulo(x, y)) / y);
    case '%':
      return modulo(x, y);
    default: {
      if (x === 0 && y < 0) refuse('0.0 cannot be raised to a negative power');
      const power = x ** y;
      return Number.isFinite(power) ? power : refuse('the power is no number that a float can hold');
    }
  }
}

/** Of the sign of `y`. */
function modulo(x: number, y: number): number {
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
}

function repeated(value: Value, times: Value, limits: Limits): Value {
  if (typeof times !== 'number' && typeof times !== 'boolean') return unsupported('*', value, times);
  const count = Math.max(0, Number(times));
  if (typeof value === 'string') {
    limits.text(value.length * count);
    return value === '' ? '' : value.repeat(count);
  }
  if (!(value instanceof Sequence && (value.kind === 'list' || value.kind === 'tuple'))) {
    return unsupported('*', value, times);
  }
  const { kind, items } = value;
  limits.list(items.length * count);
  return new Sequence(kind, items.length === 0 ? [] : Array.from({ length: count }, () => items).flat());
}

function unsupported(operator: string, a: Value, b: Value): never {
  return undefinedOr(`unsupported operand type(s) for ${operator}: '${typeOf(a)}' and '${typeOf(b)}'`, a, b);
}

/** What is not there is named first. */
function undefinedOr(message: string, ...values: readonly Value[]): never {
  for (const value of values) if (value instanceof Undefined) refuse(value.why);
  return refuse(message);
}
