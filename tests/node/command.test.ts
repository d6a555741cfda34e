/** The command, run as a process of its own. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectedStory, hasSharedModels, stories260K, vocabularyOnly } from './models.js';
import { CLI, kvasir, run } from './run.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kvasir-command-'));
});
afterAll(() => rm(folder, { recursive: true }));

const greedy = ['--temperature', '0'];

describe('kvasir generate', () => {
  test.skipIf(!hasSharedModels)('prints the reference text, and not even a line feed after it', async () => {
    const args = ['generate', '--model', stories260K, '--prompt', '', ...greedy, '--max-tokens', '256'];
    expect(await kvasir(args)).toEqual({ stdout: expectedStory(), stderr: '', code: 0, signal: null });
  });

  test('uses the embedded model and the same prompt from every place', async () => {
    const prompt = 'Once upon a time';
    const file = join(folder, 'prompt.txt');
    await writeFile(file, prompt);
    const short = [...greedy, '-n', '12'];
    const [first, ...others] = await Promise.all([
      kvasir(['generate', '--prompt', prompt, ...short]),
      kvasir(['generate', prompt, ...short]),
      kvasir(['generate', '--prompt-file', file, ...short]),
      kvasir(['generate', '-', ...short], { input: prompt }),
    ]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first?.stdout).not.toBe('');
    expect(others.map(({ stdout }) => stdout)).toEqual(Array(3).fill(first?.stdout));
  });

  test('prints one JSON object with --json', async () => {
    const { stdout, code } = await kvasir(['generate', '--json', '--seed', '3', '--max-tokens', '9', '--stop', 'zzz']);
    const result = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(result).toMatchObject({ seed: 3, finishReason: 'length', usage: { completionTokens: 9 } });
    expect(result.tokens).toHaveLength(9);
    expect(Object.keys(result.timings)).toContain('decodeTokensPerSecond');
    expect(result.memory.totalBytes).toBeGreaterThan(0);
  });

  test('keeps its figures out of stdout with --stats', async () => {
    const args = ['generate', ...greedy, '--max-tokens', '5'];
    const [plain, stats] = await Promise.all([kvasir(args), kvasir([...args, '--stats'])]);
    expect(stats.stdout).toBe(plain.stdout);
    for (const figure of ['time to first token', 'prefill', 'decode', 'memory']) expect(stats.stderr).toContain(figure);
  });

  test('ends cleanly on Ctrl-C, with what it has and code 130', async () => {
    const args = ['generate', ...greedy, '--ignore-eos', '--max-tokens', '2000000', '--penalty-window', '-1'];
    let interrupted = false;
    const { stdout, stderr, code } = await kvasir(args, {
      onStdout: (text, child) => {
        if (!interrupted && text.length > 20) child.kill('SIGINT');
        interrupted ||= text.length > 20;
      },
    });
    expect({ stderr, code }).toEqual({ stderr: '', code: 130 });
    expect(stdout.length).toBeGreaterThan(20);
  });

  test('gives up quietly when its reader has seen enough', async () => {
    const command = `'${process.execPath}' '${CLI}' generate --temperature 0 --ignore-eos --max-tokens 2000 | head -c 5`;
    const { stdout, stderr } = await run('bash', ['-c', command]);
    expect(stderr).toBe('');
    expect(stdout).toHaveLength(5);
  });
});

describe.skipIf(!hasSharedModels)('kvasir tokenize and detokenize', () => {
  const model = ['--model', vocabularyOnly];

  test('agree with each other on every way in', async () => {
    const text = 'Hello,  wörld\n 🦊';
    const file = join(folder, 'text.txt');
    await writeFile(file, text);
    const [given, fromFile, fromStdin, plain] = await Promise.all([
      kvasir(['tokenize', ...model, '--json', text]),
      kvasir(['tokenize', ...model, '--json', '--file', file]),
      kvasir(['tokenize', ...model, '--json', '-'], { input: text }),
      kvasir(['tokenize', ...model, text]),
    ]);
    const ids: number[] = JSON.parse(given.stdout);
    expect(fromFile.stdout).toBe(given.stdout);
    expect(fromStdin.stdout).toBe(given.stdout);
    expect(plain.stdout).toBe(`${ids.join(' ')}\n`);
    const back = await Promise.all([
      kvasir(['detokenize', ...model, ids.join(',')]),
      kvasir(['detokenize', ...model, ...ids.map(String)]),
      kvasir(['detokenize', ...model, '-'], { input: given.stdout }),
    ]);
    expect(back.map(({ stdout }) => stdout)).toEqual([text, text, text]);
    expect(JSON.parse((await kvasir(['detokenize', ...model, '--json', ids.join(',')])).stdout)).toBe(text);
  });

  test('leave BOS away and read special tokens when asked', async () => {
    const tokens = async (...args: string[]): Promise<number[]> =>
      JSON.parse((await kvasir(['tokenize', ...model, '--json', ...args])).stdout);
    const [plain, noBos, special] = await Promise.all([
      tokens('</s>'),
      tokens('--no-bos', '</s>'),
      tokens('--no-bos', '--special', '</s>'),
    ]);
    expect(plain).toEqual([1, ...noBos]);
    expect(special.at(-1)).toBe(2);
    expect(noBos).not.toContain(2);
  });
});

describe('kvasir chat', () => {
  const greedy = ['--temperature', '0', '--max-tokens', '8'];

  test('answers each line of the input', async () => {
    const { stdout, code } = await kvasir(['chat', ...greedy, '--json'], {
      input: 'Tell me a story.\n\nGo on.\n/again\n',
    });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { text: string });
    expect(code).toBe(0);
    expect(answers).toHaveLength(3);
    expect(answers[2]?.text).toBe(answers[1]?.text);
  });

  test('forgets, and ends when told to', async () => {
    const input = 'Tell me a story.\n/reset\nTell me a story.\n/exit\nNever read.\n';
    const { stdout, code } = await kvasir(['chat', ...greedy], { input });
    const [first, second, ...rest] = stdout.split('\n');
    expect(code).toBe(0);
    expect(first).not.toBe('');
    expect(second).toBe(first);
    expect(rest).toEqual(['']);
  });

  test('takes a system prompt and a template of the caller', async () => {
    const template = join(folder, 'template.jinja');
    await writeFile(
      template,
      "{% if messages[0].role == 'system' %}{{ raise_exception('seen ' + messages[0].content) }}{% endif %}",
    );
    const outcome = await kvasir(['chat', '--template', template, '--system', 'Be kind.'], { input: 'Hello\n' });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(/seen Be kind\./);
  });

  test('changes the system prompt, keeps what was said, and tells its commands', async () => {
    const template = join(folder, 'says.jinja');
    const said = "messages|map(attribute='content')|join('|')";
    await writeFile(
      template,
      `{% if messages|length > 3 %}{{ raise_exception('seen ' ~ ${said}) }}{% endif %}{{ ${said} }}`,
    );
    const outcome = await kvasir(['chat', ...greedy, '--template', template, '--system', 'Be kind.'], {
      input: '/help\nHello\n/system Be brief.\nMore\n',
    });
    expect(outcome.stderr).toMatch(/\/system TEXT/);
    expect(outcome.stderr).toMatch(/seen Be brief\.\|Hello\|.*\|More/s);
    expect(outcome.stderr).not.toContain('Be kind.');
  });

  test('names what is no command of it', async () => {
    const { stdout, stderr, code } = await kvasir(['chat'], { input: '/sing\n/again\n' });
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
    expect(stderr).toMatch(/\/sing.*\/reset/);
    expect(stderr).toContain('no answer to give anew');
  });
});

describe('kvasir inspect', () => {
  test('tells about the embedded model, for people and as JSON', async () => {
    const [text, json] = await Promise.all([kvasir(['inspect']), kvasir(['inspect', '--json'])]);
    expect(text.stdout).toMatch(/^architecture\s+llama$/m);
    expect(text.stdout).toMatch(/^ends with\s+<\/s> \(2\), <\|end\|> \(6\)$/m);
    expect(text.stdout).toMatch(/^ {2}Q8_0\s+43 tensors, 2\.75 million parameters, 2\.92 MB$/m);
    expect(text.stdout).toMatch(/^runs here\s+yes: variant/m);
    expect(JSON.parse(json.stdout)).toMatchObject({ architecture: 'llama', vocabularyOnly: false, problem: null });
  });

  test('prints the template whole', async () => {
    const { stdout } = await kvasir(['inspect', '--template']);
    expect(stdout).toContain('{% for message in messages %}');
  });

  test('estimates the memory of a context, and says when it does not fit', async () => {
    const inspect = async (...args: string[]): Promise<string> => (await kvasir(['inspect', ...args])).stdout;
    const [short, long] = await Promise.all([
      inspect('--context', '10', '--kv', 'i8'),
      inspect('--context', '9000000'),
    ]);
    expect(short).toMatch(/^memory\s+for 10 tokens about .* MB with i8$/m);
    // 6 layers of 2 heads of 32 keys and values in 16 bits: 1536 bytes a token.
    expect(long).toMatch(/^memory\s+for 9000000 tokens about 27\.7 GB with f32, 13\.9 GB with f16/m);
    expect(long).toMatch(/^runs here\s+no: it takes .* at least/m);
  });

  test('tells why a model cannot run', async () => {
    const bytes = await readFile(new URL('../../models/kvasir-stories.gguf', import.meta.url));
    const at = bytes.indexOf('general.architecture') + 'general.architecture'.length + 12;
    bytes.write('x', at);
    const file = join(folder, 'unknown.gguf');
    await writeFile(file, bytes);
    const { stdout, code } = await kvasir(['inspect', file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^architecture\s+xlama$/m);
    expect(stdout).toMatch(/^runs here\s+no: .*xlama/m);
  });

  test.skipIf(!hasSharedModels)('takes a file as its argument', async () => {
    const { stdout } = await kvasir(['inspect', '--json', stories260K]);
    expect(JSON.parse(stdout)).toMatchObject({
      vocabularySize: 512,
      shape: { layers: 5, dim: 64 },
      kvCacheBytesPerToken: { f32: 5 * 2 * 4 * 8 * 4, f16: 5 * 2 * 4 * 8 * 2, i8: 5 * 2 * 4 * (8 + 5) },
      endTokens: [{ id: 2, text: '</s>' }],
    });
  });
});

describe.skipIf(!hasSharedModels)('kvasir logits', () => {
  test('writes a row of floats for each token', async () => {
    const out = join(folder, 'logits.f32');
    const { stdout, code } = await kvasir(['logits', '-m', stories260K, '--tokens', '1,2,3', '--out', out, '--json']);
    expect({ stdout, code }).toEqual({ stdout: '{"rows":3,"columns":512}\n', code: 0 });
    const bytes = await readFile(out);
    expect(bytes.length).toBe(3 * 512 * 4);
    expect(new Float32Array(bytes.buffer, bytes.byteOffset, 3 * 512).every(Number.isFinite)).toBe(true);
  });
});

describe('the exit code', () => {
  test.each<[string, number, RegExp, string[]]>([
    ['no command', 2, /Commands:/, []],
    ['an unknown command', 2, /no command "sing"/, ['sing']],
    ['an unknown option', 2, /--sing/, ['generate', '--sing']],
    ['a number that is none', 2, /--temperature must be a number/, ['generate', '--temperature', 'hot']],
    ['an option out of range', 2, /topP/, ['generate', '--top-p', '3']],
    ['two prompts', 2, /once/, ['generate', '--prompt', 'a', 'b']],
    ['a missing text', 2, /give a text/, ['tokenize']],
    ['a token that is none', 2, /"x" is no token id/, ['detokenize', '1,x']],
    ['a wrong variant', 2, /variant must be/, ['inspect', '--variant', 'fast']],
    ['missing options', 2, /--tokens IDS/, ['logits']],
    ['a missing file', 1, /nowhere\.gguf/, ['inspect', 'nowhere.gguf']],
    ['a file that is no model', 1, /kvasir inspect: /, ['inspect', CLI]],
  ])('of %s is %i, with a word on stderr and none on stdout', async (_name, code, message, args) => {
    const outcome = await kvasir(args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
  });

  test.each([['--help'], ['--version'], ['generate --help'], ['logits --help']])('of %s is 0', async (args) => {
    expect(await kvasir(args.split(' '))).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/\S\n$/),
    });
  });
});
