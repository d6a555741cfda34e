/** Python's two ways of formatting: `'%s' % x` and `'{}'.format(x)`. Internal. */
import type { Limits } from './jinja-limits.js';
import { rewrite } from './jinja-rewrite.js';
import { asNumber } from './jinja-operators.js';
import { repr, str } from './jinja-text.js';
import { Dict, Float, lengthOfText, refuse, Sequence, typeOf, Undefined, type Value } from './jinja-values.js';

const DIRECTIVE = /%(?:\((\w*)\))?([-+ 0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])|%/g;

/** `%`; `whole` is what the names of directives are looked up in. */
export function format(text: string, args: readonly Value[], whole: Value, limits: Limits): string {
  let next = 0;
  let isNamed = false;
  const result = rewrite(
    text,
    DIRECTIVE,
    ([directive, name, flags = '', width = '', precision, letter]) => {
      if (letter === undefined) return refuse('incomplete format');
      if (directive === '%%') return '%';
      if (name !== undefined) isNamed = true;
      const named =
        name === undefined ? undefined : whole instanceof Dict ? whole.get(name) : refuse('format requires a mapping');
      const value = name === undefined ? args[next++] : named;
      if (value === undefined) return refuse('not enough arguments for format string');
      const align = flags.includes('-') ? '<' : flags.includes('0') && !'sra'.includes(letter) ? '0' : '>';
      const sign = /[+ ]/.exec(flags)?.[0] ?? '';
      return pad(converted(value, letter, precision, sign, limits), align, ' ', Number(width), limits);
    },
    limits,
  );
  if (
    next < args.length &&
    !isNamed &&
    !(whole instanceof Dict || (whole instanceof Sequence && whole.kind === 'list'))
  ) {
    refuse('not all arguments converted during string formatting');
  }
  return result;
}

const FIELD = /\{\{|\}\}|\{(\w*)(?:!([rs]))?(?::([^{}]*))?\}|[{}]/g;
const SPECIFICATION = /^(?:(.)?([<>^]))?([-+ ])?(0)?(\d*)(?:\.(\d+))?([a-zA-Z])?$/su;

/** `str.format`. */
export function formatFields(
  text: string,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
  limits: Limits,
): string {
  let next = 0;
  return rewrite(
    text,
    FIELD,
    ([field, name, conversion, specification = '']) => {
      if (field === '{{' || field === '}}') return field.charAt(0);
      if (name === undefined) return refuse(`the format field at ${field} is not supported`);
      const value = name === '' ? args[next++] : /^\d+$/.test(name) ? args[Number(name)] : named.get(name);
      if (value === undefined) return refuse(`there is no argument for the format field {${name}}`);
      const match = SPECIFICATION.exec(specification);
      if (match === null) return refuse(`the format specification ${specification} is not supported`);
      const [, fill, align, sign, zero, width = '', precision, letter] = match;
      const number = conversion === undefined ? asNumber(value) : undefined;
      const isText = number === undefined || (typeof value === 'boolean' && specification === '');
      if (!isText && letter === undefined && precision !== undefined) {
        return refuse(`the format specification ${specification} is not supported`);
      }
      const kind = conversion ?? letter ?? (isText || value instanceof Float ? 's' : 'd');
      if (isText !== 'sr'.includes(kind) && !(kind === 's' && letter === undefined)) {
        return refuse(`Unknown format code '${kind}' for object of type '${typeOf(value)}'`);
      }
      const done = converted(value, kind, precision, sign === '-' ? '' : (sign ?? ''), limits);
      const side = align ?? (zero === '0' ? '0' : isText ? '<' : '>');
      return pad(done, side, fill ?? (zero === '0' ? '0' : ' '), Number(width), limits);
    },
    limits,
  );
}

function converted(value: Value, letter: string, precision: string | undefined, sign: string, limits: Limits): string {
  if (letter === 's' || letter === 'r') {
    const text = letter === 's' ? str(value, limits) : repr(value, limits);
    return precision === undefined
      ? text
      : Array.from(text.slice(0, 2 * Number(precision)))
          .slice(0, Number(precision))
          .join('');
  }
  const number = asNumber(value);
  if (number === undefined) {
    return refuse(
      value instanceof Undefined ? value.why : `%${letter} format: a real number is required, not ${typeOf(value)}`,
    );
  }
  const digits = digitsOf(Math.abs(number), letter, Math.min(100, Number(precision ?? 6)));
  return `${number < 0 || Object.is(number, -0) ? '-' : sign}${digits}`;
}

function digitsOf(number: number, letter: string, precision: number): string {
  if (!Number.isFinite(number) || number >= 1e21) return refuse('formatting numbers of this size is not supported');
  switch (letter) {
    case 'd':
    case 'i':
      return String(Math.trunc(number));
    case 'f':
      return rounded(number, precision);
    case 'x':
      return Math.trunc(number).toString(16);
    case 'X':
      return Math.trunc(number).toString(16).toUpperCase();
    default:
      return refuse(`the format %${letter} is not supported`);
  }
}

/** `toFixed`, with what lies in the middle to the even digit. */
export function rounded(number: number, precision: number): string {
  const text = number.toFixed(precision);
  const more = precision < 100 ? number.toFixed(precision + 1) : '';
  if (!more.endsWith('5') || Number(more) !== number) return text;
  const below = more.slice(0, precision === 0 ? -2 : -1);
  return /[02468]$/.test(below) ? below : text;
}

/** To `width` code points; `0` fills between sign and digits. */
export function pad(text: string, align: string, fill: string, width: number, limits: Limits): string {
  const missing = width - lengthOfText(text);
  if (!(missing > 0)) return text;
  limits.text(missing * fill.length + text.length);
  if (align === '0') return text.replace(/^[-+ ]?/, (sign) => sign + '0'.repeat(missing));
  const left = align === '<' ? 0 : align === '>' ? missing : Math.floor(missing / 2);
  return fill.repeat(left) + text + fill.repeat(missing - left);
}
