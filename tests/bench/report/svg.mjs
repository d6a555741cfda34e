// The rates as bars: a column for each test, a block for each model, threads, KV cache and depth. Each block has its own
// scale. The colours are between light and dark, so that they show on either background.
import { isSameTest } from './compare.mjs';

const LABEL_WIDTH = 200;
const COLUMN_WIDTH = 250;
const BAR_WIDTH = 170;
const ROW = 18;
const MARGIN = 12;

const COLORS = { kvasir: '#2f81f7', wllama: '#c9761a', 'llama.cpp': '#8b949e' };
const INK = '#6e7781';

export function chart({ cases, options: { prefill, decode, depth } }) {
  const tests = [
    ...prefill.map((tokens) => ({ test: 'prefill', tokens })),
    ...decode.map((tokens) => ({ test: 'decode', tokens })),
  ];
  const shapes = [];
  let y = MARGIN;
  for (const { shape, mix, threads, kv, results } of cases) {
    for (const tokensBefore of depth) {
      y += ROW;
      const title = `${shape} ${mix}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, KV ${kv}, depth ${tokensBefore}`;
      shapes.push(text(MARGIN, y, title, 'font-weight="bold"'));
      y += ROW;
      for (const [column, { test, tokens }] of tests.entries()) {
        shapes.push(text(columnAt(column), y, `${test} ${tokens}, tokens/s`));
      }
      const measured = results.filter(({ rates }) => rates);
      for (const [row, result] of measured.entries()) {
        shapes.push(text(MARGIN, y + (row + 1) * ROW, result.name));
      }
      for (const [column, test] of tests.entries()) {
        shapes.push(...bars(measured, { ...test, depth: tokensBefore }, columnAt(column), y));
      }
      y += (measured.length + 1) * ROW;
    }
  }
  const width = columnAt(tests.length);
  const height = y + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" \
font-family="system-ui, sans-serif" font-size="12" fill="${INK}">
${shapes.join('\n')}
</svg>
`;
}

const columnAt = (column) => MARGIN + LABEL_WIDTH + column * COLUMN_WIDTH;

function bars(results, test, x, y) {
  const rates = results.map(({ rates }) => rates.find((rate) => isSameTest(rate, test))?.tokensPerSecond);
  const most = Math.max(...rates.filter((rate) => rate !== undefined));
  return rates.flatMap((rate, row) => {
    if (rate === undefined) return [];
    const width = Math.max(1, (rate / most) * BAR_WIDTH).toFixed(1);
    const top = y + row * ROW + 8;
    const color = COLORS[results[row].kind];
    return [
      `<rect x="${x}" y="${top}" width="${width}" height="${ROW - 6}" rx="2" fill="${color}"/>`,
      text(x + Number(width) + 6, top + 10, rate < 100 ? rate.toFixed(1) : rate.toFixed(0)),
    ];
  });
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function text(x, y, words, attributes = '') {
  return `<text x="${x}" y="${y}" ${attributes}>${words.replace(/[&<>]/g, (sign) => ENTITIES[sign])}</text>`;
}
