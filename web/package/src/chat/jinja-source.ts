/**
 * A template's source as tokens for the library's parser, by Jinja2's rules for white space and with what that parser
 * does not know put in terms that it does: tests become filters, `with` and `generation` blocks of their own. Internal.
 */
import { refuse } from './jinja-values.js';

export interface Token {
  readonly value: string;
  readonly type: string;
}

/** A test is a filter of this name before its own. */
export const TEST = 'is ';
export const TEST_NOT = 'is not ';
/** A filter block with this name only has variables of its own. */
export const SCOPE = 'with ';

const TAG = /\{%([-+]?)\s*raw\s*(?:-%\}\s*|%\})|\{([%{#])([-+]?)/g;
const END_RAW = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\}\n?)/g;
const END_COMMENT = /\+#\}|-#\}\s*|#\}\n?/g;
const ENDS = { '%': /\+%\}|-%\}\s*|%\}\n?/y, '{': /-\}\}\s*|\}\}/y } as const;
const INNER = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|[^]/suy;

/** As transformers reads it: `trim_blocks`, `lstrip_blocks`. */
export function readSource(template: string, tokenize: (tag: string) => Token[]): Token[] {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  const addText = (end: number, sign: string, isBlock: boolean): void => {
    const text = source.slice(at, end);
    const startsLine = at === 0 || source[at - 1] === '\n';
    const value = sign === '-' ? text.trimEnd() : isBlock && sign !== '+' ? withoutIndent(text, startsLine) : text;
    if (value !== '') tokens.push({ value, type: 'Text' });
  };
  for (;;) {
    const tag = search(TAG, source, at);
    addText(tag?.index ?? source.length, (tag?.[1] ?? '') || (tag?.[3] ?? ''), tag !== undefined && tag[2] !== '{');
    if (tag === undefined) return tokens;
    at = tag.index + tag[0].length;
    const kind = tag[2];
    if (kind === undefined) {
      const end = search(END_RAW, source, at) ?? refuse('Missing end of raw directive');
      addText(end.index, end[1] ?? '', true);
      at = end.index + end[0].length;
    } else if (kind === '#') {
      const end = search(END_COMMENT, source, at) ?? refuse('Missing end of comment tag');
      at = end.index + end[0].length;
    } else {
      const open = kind as '%' | '{';
      const { inner, end } = readTag(source, at, ENDS[open]);
      const [start, close] = open === '%' ? ['{%', '%}'] : ['{{', '}}'];
      for (const token of rewritten(tokenize(`${start} ${inner} ${close}`))) tokens.push(token);
      at = end;
    }
  }
}

function search(pattern: RegExp, source: string, from: number): RegExpExecArray | undefined {
  pattern.lastIndex = from;
  return pattern.exec(source) ?? undefined;
}

/** Without white space that begins the tag's line. */
function withoutIndent(text: string, startsLine: boolean): string {
  const line = text.lastIndexOf('\n') + 1;
  return (line > 0 || startsLine) && text.slice(line).trim() === '' ? text.slice(0, line) : text;
}

function readTag(source: string, from: number, ending: RegExp): { inner: string; end: number } {
  let [at, depth, inner] = [from, 0, ''];
  while (at < source.length) {
    const end = depth === 0 ? search(ending, source, at) : undefined;
    if (end !== undefined) return { inner, end: at + end[0].length };
    const part = search(INNER, source, at)?.[0] ?? '';
    if ('([{'.includes(part)) depth += 1;
    else if (')]}'.includes(part)) depth -= 1;
    inner +=
      part.length > 1 && (part[0] === "'" || part[0] === '"')
        ? part.replace(/\\(\d{1,3}|U[\da-f]{8}|[^])/gi, escape)
        : part;
    at += part.length;
  }
  return refuse('a tag has no end');
}

/** An escape of Python as one that the library knows. */
function escape(whole: string, code: string): string {
  if (/[nrtbfvxu'"\\]/.test(code)) return whole;
  if (code === '\n') return '';
  if (code === 'a') return '\\x07';
  if (code.startsWith('N')) refuse('names of characters in texts are not supported');
  if (/^[0-7]/.test(code)) return units(parseInt(code, 8)) + code.replace(/^[0-7]+/, '');
  return code.length > 1 && code.startsWith('U') ? units(parseInt(code.slice(1), 16)) : `\\\\${code}`;
}

function units(code: number): string {
  if (code > 0x10ffff) refuse('there is no such character');
  return Array.from({ length: code > 0xffff ? 2 : 1 }, (_, i) => {
    const unit = String.fromCodePoint(code).charCodeAt(i);
    return `\\u${unit.toString(16).padStart(4, '0')}`;
  }).join('');
}

const OPEN = new Set(['OpenParen', 'OpenSquareBracket', 'OpenCurlyBracket']);
const CLOSE = new Set(['CloseParen', 'CloseSquareBracket', 'CloseCurlyBracket']);
const OPERANDS = new Set(['Identifier', 'StringLiteral', 'NumericLiteral', ...OPEN]);
const NO_OPERANDS = new Set(['and', 'or', 'else', 'if', 'in', 'not', 'is']);
/** What ends a chain of comparisons. */
const ENDS_CHAIN = new Set(['and', 'or', 'if', 'else', ',', ':', '=']);

function rewritten(tag: readonly Token[]): Token[] {
  const tokens = withConcatenation(withBlocks(tag));
  const result: Token[] = [];
  const closing = new Set<number>();
  const isCompared: boolean[] = [false];
  const name = tokens[1]?.value;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (closing.has(i)) result.push({ value: ')', type: 'CloseParen' });
    if (OPEN.has(token.type)) isCompared.push(false);
    if (CLOSE.has(token.type)) isCompared.pop();
    if (ENDS_CHAIN.has(token.value) && token.type !== 'StringLiteral') isCompared[isCompared.length - 1] = false;
    const isName = token.type === 'Identifier' && tokens[i - 1]?.type !== 'Dot';
    if (
      token.type === 'ComparisonBinaryOperator' ||
      (isName && token.value === 'in' && (name !== 'for' || isCompared.length > 1))
    ) {
      if (isCompared.at(-1) === true) refuse('chains of comparisons are not supported: write "a < b and b < c"');
      isCompared[isCompared.length - 1] = true;
    }
    if (!isName || token.value !== 'is' || tokens[i + 1]?.type !== 'Identifier') {
      result.push(token);
      continue;
    }
    const isNegated = tokens[i + 1]?.value === 'not';
    i += isNegated ? 2 : 1;
    const test = tokens[i]?.type === 'Identifier' ? (tokens[i]?.value ?? '') : refuse('a test has no name');
    result.push({ value: '|', type: 'Pipe' }, { value: (isNegated ? TEST_NOT : TEST) + test, type: 'Identifier' });
    const next = tokens[i + 1];
    if (next !== undefined && OPERANDS.has(next.type) && next.type !== 'OpenParen' && !NO_OPERANDS.has(next.value)) {
      result.push({ value: '(', type: 'OpenParen' });
      closing.add(operandEnd(tokens, i + 1));
    }
  }
  return result;
}

/**
 * `~` is between + and * for Jinja2, and the library takes it for +: so it gets the rank of *, and that the rank of **.
 */
function withConcatenation(tag: readonly Token[]): readonly Token[] {
  const isTilde = ({ type, value }: Token): boolean => type === 'AdditiveBinaryOperator' && value === '~';
  if (!tag.some(isTilde)) return tag;
  return tag.map((token, i) => {
    const before = tag[i - 1]?.type;
    const isSpread = before === 'OpenParen' || before === 'Comma';
    if (token.type === 'ExponentiationBinaryOperator' && !isSpread) refuse('** beside ~ is not supported');
    if (isTilde(token)) return { ...token, type: 'MultiplicativeBinaryOperator' };
    if (token.type === 'MultiplicativeBinaryOperator' && !isSpread)
      return { ...token, type: 'ExponentiationBinaryOperator' };
    return token;
  });
}

/** Where the operand at `from` ends, with what is read of it and called. */
function operandEnd(tokens: readonly Token[], from: number): number {
  let at = groupEnd(tokens, from);
  for (;;) {
    const type = tokens[at]?.type;
    if (type === 'Dot') at += 2;
    else if (type === 'OpenParen' || type === 'OpenSquareBracket') at = groupEnd(tokens, at);
    else return at;
  }
}

function groupEnd(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    if (OPEN.has(tokens[at]?.type ?? '')) depth += 1;
    if (CLOSE.has(tokens[at]?.type ?? '')) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return refuse('a bracket is not closed');
}

function withBlocks(tag: readonly Token[]): readonly Token[] {
  const [open, name, ...rest] = tag;
  if (open?.type !== 'OpenStatement' || name?.type !== 'Identifier') return tag;
  const identifier = (value: string): Token => ({ value, type: 'Identifier' });
  if (name.value === 'endwith' || name.value === 'endgeneration') return [open, identifier('endfilter'), ...rest];
  if (name.value !== 'with' && name.value !== 'generation') return tag;
  const [head, variables, close] = [[open, identifier('filter'), identifier(SCOPE)], rest.slice(0, -1), rest.slice(-1)];
  if (variables.length === 0) return [...head, ...close];
  return [...head, { value: '(', type: 'OpenParen' }, ...variables, { value: ')', type: 'CloseParen' }, ...close];
}
