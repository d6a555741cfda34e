/** Texts with parts replaced. Internal. */
import type { Limits } from './jinja-limits.js';

const PIECES_AT_ONCE = 4096;

/**
 * As `replace` with a global pattern. Engines keep every match of it, or a node for each part of the result, which is
 * more memory than the text takes; this does not.
 */
export function rewrite(
  text: string,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
  limits: Limits,
): string {
  const chunks: string[] = [];
  let pieces: string[] = [];
  let [at, length] = [0, text.length];
  const matcher = new RegExp(pattern);
  for (let match = matcher.exec(text); match !== null; match = matcher.exec(text)) {
    limits.scan(64);
    const by = replacement(match);
    length += by.length - match[0].length;
    limits.text(0, length);
    pieces.push(text.slice(at, match.index), by);
    if (pieces.length >= PIECES_AT_ONCE) {
      chunks.push(pieces.join(''));
      pieces = [];
    }
    at = match.index + match[0].length;
    if (match[0] === '') matcher.lastIndex = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  }
  limits.text(length);
  return at === 0 && pieces.length === 0 ? text : [...chunks, ...pieces, text.slice(at)].join('');
}
