/** Values as text: what is printed, and JSON. Internal. */
import type { Limits } from './jinja-limits.js';
import { rewrite } from './jinja-rewrite.js';
import { Dict, Float, refuse, Sequence, typeOf, Undefined, type Value } from './jinja-values.js';

/** As Python's `str()`. */
export function str(value: Value, limits: Limits): string {
  if (typeof value === 'string') return value;
  return value instanceof Undefined ? '' : repr(value, limits);
}

/** As Python's `repr()`. */
export function repr(value: Value, limits: Limits): string {
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Dict) {
    const items = parts(value.map.values(), limits, ([key, item]) => `${repr(key, limits)}: ${repr(item, limits)}`);
    return `{${items.join(', ')}}`;
  }
  if (value instanceof Sequence && value.kind !== 'generator' && value.kind !== 'range') {
    const items = parts(value.items, limits, (item) => repr(item, limits)).join(', ');
    if (value.kind === 'tuple') return value.items.length === 1 ? `(${items},)` : `(${items})`;
    return value.kind === 'list' ? `[${items}]` : `${value.kind}([${items}])`;
  }
  const text = scalar(value) ?? (typeof value === 'string' ? quoted(value, limits) : undefined);
  if (text === undefined) return refuse(`printing a ${typeOf(value)} is not supported`);
  limits.text(text.length);
  return text;
}

function parts<T>(items: Iterable<T>, limits: Limits, text: (item: T) => string): string[] {
  let whole = 0;
  return Array.from(items, (item) => {
    limits.step();
    const part = text(item);
    whole += part.length;
    limits.text(part.length, whole);
    return part;
  });
}

function scalar(value: Value): string | undefined {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  return value instanceof Float ? floatText(value.value) : undefined;
}

/** The shortest that reads back, with an exponent where Python writes one. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  if (value !== 0 && (Number(exponent) < -4 || Number(exponent) >= 16)) {
    return `${digits}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, '0')}`;
  }
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function quoted(text: string, limits: Limits): string {
  limits.text(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = rewrite(
    text,
    /[\p{C}\p{Zl}\p{Zp}\p{Zs}\\'"]/gu,
    ([char]) => {
      if (char === ' ' || (char === '"' && quote === "'")) return char;
      if (char === "'" || char === '"') return char === quote ? `\\${char}` : char;
      const code = char.codePointAt(0) ?? 0;
      const [letter, width] = code > 0xffff ? ['U', 8] : code > 0xff ? ['u', 4] : ['x', 2];
      return ESCAPES[char] ?? `\\${letter}${code.toString(16).padStart(width, '0')}`;
    },
    limits,
  );
  return quote + inner + quote;
}

export interface JsonOptions {
  readonly ascii: boolean;
  readonly indent: string | undefined;
  readonly comma: string;
  readonly colon: string;
  readonly sorted: boolean;
}

/** As Python's `json.dumps()`. */
export function toJson(value: Value, options: JsonOptions, limits: Limits, depth = 0): string {
  const { indent, comma, colon, sorted } = options;
  const isDict = value instanceof Dict;
  if (isDict || (value instanceof Sequence && (value.kind === 'list' || value.kind === 'tuple'))) {
    const inner = (item: Value): string => toJson(item, options, limits, depth + 1);
    let lines: string[];
    if (isDict) {
      const entries = Array.from(value.map.values());
      if (sorted) entries.sort(([a], [b]) => compareKeys(a, b));
      lines = parts(entries, limits, ([key, item]) => `${jsonKey(key, options, limits)}${colon}${inner(item)}`);
    } else {
      lines = parts(value.items, limits, inner);
    }
    const [open, close] = isDict ? '{}' : '[]';
    if (lines.length === 0 || indent === undefined) return `${open}${lines.join(comma)}${close}`;
    limits.text((lines.length + 1) * indent.length * (depth + 1));
    const line = `\n${indent.repeat(depth)}`;
    return `${open}${line}${indent}${lines.join(`${comma}${line}${indent}`)}${line}${close}`;
  }
  if (typeof value === 'string') return jsonString(value, options, limits);
  return jsonScalar(value) ?? refuse(`Object of type ${typeOf(value)} is not JSON serializable`);
}

function jsonScalar(value: Value): string | undefined {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (!(value instanceof Float)) return scalar(value);
  return { nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' }[floatText(value.value)] ?? floatText(value.value);
}

function jsonKey(key: Value, options: JsonOptions, limits: Limits): string {
  return typeof key === 'string' ? jsonString(key, options, limits) : `"${jsonScalar(key)}"`;
}

function jsonString(text: string, { ascii }: JsonOptions, limits: Limits): string {
  limits.text(text.length);
  const json = JSON.stringify(text);
  if (!ascii) return json;
  const unit = ([char]: RegExpExecArray): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return rewrite(json, /[\x7f-\uffff]/g, unit, limits);
}

function compareKeys(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return typeof a === 'number' && typeof b === 'number' ? a - b : refuse('keys of several types cannot be sorted');
}

/** By code points, as Python does; JavaScript goes by UTF-16 units. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  const isLow = (text: string): boolean => /[\udc00-\udfff]/.test(text.charAt(i));
  if (i > 0 && (isLow(a) || isLow(b))) i -= 1;
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1);
}
