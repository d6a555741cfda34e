// The report as Markdown: rates, then load times and memory, then sizes.
import { isSameTest } from './compare.mjs';

export function markdown({ machine, options, cases, wasm }) {
  const turns = `${options.rounds[0]} turns of ${options.repetitions[0]} repetitions`;
  const failures = cases.flatMap(({ shape, mix, results }) =>
    results.filter(({ failure }) => failure).map(({ name, failure }) => `- ${shape} ${mix}, ${name}: ${failure}`),
  );
  return [
    `${machine}; tokens/s, best of ${turns}`,
    ratesTable(cases, options),
    startTable(cases),
    START_NOTES,
    table(
      ['WebAssembly', 'bytes', 'gzipped'],
      'lrr',
      wasm.map(({ name, bytes, gzipped }) => [name, bytes, gzipped]),
    ),
    ...(failures.length > 0 ? [`Left out:\n\n${[...new Set(failures)].join('\n')}`] : []),
  ].join('\n\n');
}

const START_NOTES = `Load: until a session is ready, from a file that is a Blob of the page or, in Node, in the system's cache; the \
WebAssembly is fetched and compiled in it. First token: right after that, from a prompt of as many tokens as the first \
prefill test to the first token drawn, with nothing warmed up. WebAssembly memory: its size at the end, which is its \
peak; over weights + KV: what of it is neither the weights, as large as in the file, nor the KV cache. Process: the \
largest resident size of Node.`;

function ratesTable(cases, { prefill, decode, depth }) {
  const tests = [
    ...prefill.map((tokens) => ({ test: 'prefill', tokens })),
    ...decode.map((tokens) => ({ test: 'decode', tokens })),
  ];
  const rows = cases.flatMap(({ shape, mix, threads, kv, results }) =>
    depth.flatMap((tokensBefore) =>
      results
        .filter(({ rates }) => rates)
        .map(({ name, rates }) => {
          const cells = tests.flatMap((test) => {
            const rate = rates.find((candidate) => isSameTest(candidate, { ...test, depth: tokensBefore }));
            return [fixed(rate?.tokensPerSecond, 1), fixed(rate?.toLlama, 2), fixed(rate?.toWllama, 2)];
          });
          return [`${shape} ${mix}`, threads, kv, tokensBefore, name, ...cells];
        }),
    ),
  );
  const columns = tests.flatMap(({ test, tokens }) => [`${test} ${tokens}`, '÷ llama.cpp', '÷ best wllama']);
  return table(['model', 'threads', 'KV', 'depth', 'system', ...columns], `lrlrl${'r'.repeat(columns.length)}`, rows);
}

function startTable(cases) {
  const rows = cases.flatMap(({ shape, mix, threads, kv, results }) =>
    results
      .filter((result) => result.loadMs !== undefined)
      .map((result) => [
        ...[`${shape} ${mix}`, threads, kv, result.name],
        ...[fixed(result.loadMs, 0), fixed(result.firstTokenMs, 0)],
        ...[result.wasmBytes, result.overheadBytes, result.processBytes].map((bytes) => fixed(bytes / 2 ** 20, 0)),
      ]),
  );
  const columns = ['load ms', 'first token ms', 'WebAssembly MiB', 'over weights + KV MiB', 'process MiB'];
  return table(['model', 'threads', 'KV', 'system', ...columns], 'lrllrrrrr', rows);
}

const fixed = (value, digits) => (value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits));

/** `alignment`: a letter a column, l or r. */
function table(head, alignment, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rule = `|${[...alignment].map((side) => (side === 'r' ? '---:' : '---')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
