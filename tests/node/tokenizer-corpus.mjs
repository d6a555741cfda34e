// Lines of text that tokenizers find hard: 5000 by default, the same in every run.

// First and last letter of what thirty scripts write with; where one has combining marks, they are within.
const SCRIPTS = {
  Latin: [0x41, 0x17f],
  Greek: [0x391, 0x3c9],
  Cyrillic: [0x410, 0x44f],
  Armenian: [0x531, 0x586],
  Hebrew: [0x5b0, 0x5ea],
  Arabic: [0x620, 0x652],
  Syriac: [0x710, 0x74a],
  Thaana: [0x780, 0x7b1],
  Devanagari: [0x901, 0x963],
  Bengali: [0x985, 0x9cd],
  Gurmukhi: [0xa05, 0xa4d],
  Gujarati: [0xa85, 0xacd],
  Oriya: [0xb05, 0xb4d],
  Tamil: [0xb85, 0xbcd],
  Telugu: [0xc05, 0xc4d],
  Kannada: [0xc85, 0xccd],
  Malayalam: [0xd05, 0xd4d],
  Sinhala: [0xd85, 0xddf],
  Thai: [0xe01, 0xe4e],
  Lao: [0xe81, 0xecd],
  Tibetan: [0xf40, 0xf7e],
  Myanmar: [0x1000, 0x1049],
  Georgian: [0x10a0, 0x10ff],
  Hangul: [0xac00, 0xd7a3],
  Jamo: [0x1100, 0x11ff],
  Ethiopic: [0x1200, 0x1248],
  Cherokee: [0x13a0, 0x13f5],
  Khmer: [0x1780, 0x17d3],
  Mongolian: [0x1820, 0x1877],
  Hiragana: [0x3041, 0x309f],
  Katakana: [0x30a1, 0x30ff],
  Han: [0x4e00, 0x9fa5],
  Gothic: [0x10330, 0x1034a],
};

const WORDS =
  "the of and a to in is you that it he was for on are as with his they I at be this have from Don't we'll I'VE can't O'Neil naïve café Straße ÉCOLE iPhone HTTPServer fooBar snake_case SCREAMING_CASE x86 utf8 e.g. 3rd 2nd".split(
    ' ',
  );
const CODE = [
  'for (let i = 0; i < n; ++i) { a[i] += b[i]; }',
  'def f(x, *args, **kwargs):\n    return x if x is not None else {}\n',
  '#include <vector>\nint main() {\n\treturn 0;\n}\n',
  "SELECT * FROM t WHERE a >= 3 AND b <> 'it''s';",
  '<div class="a b">&nbsp;</div><!-- c -->',
  'fn main() -> Result<(), Box<dyn Error>> { Ok(()) }',
  '{"key": [1, 2.5e-3, null, true], "\\u00e9": "\\n"}',
  'if [ "$x" != "y" ]; then echo "${x%%.*}" >> out.txt; fi',
  '\\frac{\\partial f}{\\partial x} = \\sum_{i=0}^{n} x_i^2',
  '@@ -1,3 +1,4 @@\n-old\n+new\n\n\n===///***---...???!!!',
];
const NUMBERS = [
  '0',
  '7',
  '42',
  '123',
  '1234',
  '12345678',
  '3.14159',
  '-1e-9',
  '0xFF',
  '1,234,567.89',
  '½',
  '²³',
  'Ⅷ',
  '٣٤٥',
  '१२३',
  '１２３',
  '10:30',
  '2026-12-03',
  '$9.99',
  '50%',
];
const SPACES = [
  ' ',
  '  ',
  '   ',
  '\t',
  '\n',
  '\r\n',
  '\n\n',
  '\r',
  '\v',
  '\f',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u2003',
  '\u2009',
  '\u200a',
  '\u2028',
  '\u2029',
  '\u202f',
  '\u205f',
  '\u3000',
  '\u180e',
  '\u200b',
  '\ufeff',
  ' \n ',
  '    \n\n\t',
];
const EMOJI = ['😀', '👍🏽', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪', '❤️', '🤷🏾‍♀️', '1️⃣', '🧑‍🚀', '☠', '🫠', '👩🏻‍❤️‍💋‍👨🏿'];
const COMBINING = [
  'e\u0301',
  'é',
  'o\u0308\u0323',
  'ộ',
  'Å',
  'Å',
  'Å',
  'q\u0323\u0307',
  'ﬁ',
  'ﬀ',
  '가',
  '가',
  'a\u0300\u0301\u0302\u0303',
  'ü\u0304',
  'ſ',
  "'ſ",
  'K',
  'Ω',
  'x\u20d7',
];
const BROKEN = [
  '\ud83d',
  '\ude00',
  'a\udc00b',
  '\ud800 \udfff',
  '\0',
  '\x01\x7f',
  '\ufffe',
  '\u{10ffff}',
  '\u{e0041}',
  '\ufffd',
];
const PUNCTUATION = [
  '.',
  ',',
  '!',
  '?',
  '...',
  '…',
  '“quoted”',
  '‘a’',
  "'s",
  "'S",
  "'ll",
  '—',
  '--',
  '(',
  ')',
  '[x]',
  '/',
  '\\',
  '#',
  '@user',
  '&',
  '_',
  '~',
  '`',
  '«»',
  '。',
  '、',
  '؟',
  '।',
];

/** Numbers in [0, 1): mulberry32. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** `special`: spellings of special tokens, which some lines have in them. */
export function tokenizerCorpus(special, count = 5000) {
  const random = generator(20261203);
  const below = (n) => Math.floor(random() * n);
  const pick = (list) => list[below(list.length)];
  const scripts = Object.values(SCRIPTS);
  const word = ([first, last]) =>
    String.fromCodePoint(...Array.from({ length: 1 + below(8) }, () => first + below(last - first + 1)));
  const cased = (text) => pick([text, text.toUpperCase(), text.charAt(0).toUpperCase() + text.slice(1)]);
  const parts = [
    ...Array(8).fill(() => cased(pick(WORDS))),
    ...Array(5).fill(() => word(pick(scripts))),
    () => pick(CODE),
    () => pick(NUMBERS),
    () => String(below(10 ** (1 + below(9)))),
    () => pick(SPACES),
    () => pick(SPACES).repeat(1 + below(40)),
    () => pick(EMOJI),
    () => pick(COMBINING),
    () => pick(PUNCTUATION),
    () => pick(PUNCTUATION).repeat(1 + below(12)),
    () => pick(BROKEN),
    () => pick(special),
  ];
  const line = () => {
    let text = '';
    for (let left = 1 + below(14); left > 0; --left) {
      text += pick(parts)();
      if (random() < 0.6) text += random() < 0.8 ? ' ' : pick(SPACES);
    }
    return text;
  };
  // Each script in a line of its own first.
  const first = scripts.map((script) => Array.from({ length: 6 }, () => word(script)).join(' '));
  return [...first, ...Array.from({ length: count - first.length }, line)];
}
