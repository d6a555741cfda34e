/** The worker, its protocol and the loading of bytes, with a stand-in for the WebAssembly module. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { runEngine } from '../../web/package/dist/engine/engine.js';
import type { Model } from '../../web/package/dist/model.js';
import { readGenerateOptions, readSessionOptions } from '../../web/package/dist/options.js';
import type { GenerateReply, Request, ToEngine } from '../../web/package/dist/protocol.js';
import { fakeUrl, loadFake } from './fake/fake-model.js';
import type { LoadProgress } from '../../web/package/dist/types.js';

const models: Model[] = [];

async function load(...args: Parameters<typeof loadFake>): Promise<Model> {
  const model = await loadFake(...args);
  models.push(model);
  return model;
}

afterEach(async () => {
  await Promise.all(models.splice(0).map((model) => model.dispose()));
});

/** Generates without a worker, so that it is known when a message arrives: `onTask` is called between two steps. */
async function generateInProcess(
  onTask: (pieces: number, abort: () => void) => void,
): Promise<{ text: string; reply: GenerateReply }> {
  const pieces: string[] = [];
  const replies = new Map<number, (value: unknown) => void>();
  let receive: (message: ToEngine) => void = () => undefined;
  runEngine({
    post(message) {
      if ('value' in message) replies.get(message.id)?.(message.value);
      else if ('event' in message && message.event.type === 'piece') pieces.push(message.event.text);
    },
    listen(onMessage) {
      receive = onMessage;
    },
    nextTask: async () => onTask(pieces.length, () => receive({ abort: 2 })),
    openPath: () => Promise.reject(new Error('no path is opened')),
  });
  const request = (id: number, content: Request): Promise<unknown> =>
    new Promise((resolve) => {
      replies.set(id, resolve);
      receive({ id, request: content });
    });
  const file = { kind: 'blob', blob: new Blob(['12345678']), name: '' } as const;
  const engine = { variant: 'st', threads: 1, session: readSessionOptions({}) } as const;
  await request(1, {
    type: 'load',
    files: [file],
    quantize: undefined,
    headersOnly: false,
    ...engine,
    moduleUrl: fakeUrl,
    wasmUrl: '',
  });
  const options = readGenerateOptions({ maxTokens: 100 }, 128);
  const reply = await request(2, { type: 'generate', session: 0, prompt: 'go', parseSpecial: false, options });
  return { text: pieces.join(''), reply: reply as GenerateReply };
}

async function texts(pieces: AsyncIterable<{ text: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { text } of pieces) all.push(text);
  return all;
}

describe('a generation', () => {
  test('gives its pieces in order and the whole as the result', async () => {
    const model = await load();
    const generation = model.generate('go', { maxTokens: 30, seed: 5 });
    const pieces = await texts(generation);
    const result = await generation.result();
    expect(pieces.join('')).toBe('abcdefghijklmnopqrstuvwxyzabcd');
    expect(pieces).toHaveLength(30);
    expect(result).toMatchObject({ text: pieces.join(''), finishReason: 'length', seed: 5 });
    expect(result.tokens).toEqual(Array.from(result.text, (letter) => letter.charCodeAt(0)));
    expect(result.usage).toEqual({ promptTokens: 2, reusedTokens: 0, completionTokens: 30 });
    expect(result.timings).toEqual({
      timeToFirstTokenMs: 1,
      prefillTokensPerSecond: 200,
      decodeTokensPerSecond: 290,
    });
  });

  test('carries the ids of text that was held back in the piece that frees it', async () => {
    const model = await load();
    const pieces = [];
    for await (const piece of model.generate('hold', { maxTokens: 4 })) pieces.push(piece);
    expect(pieces).toEqual([
      { text: 'ab', tokens: [97, 98] },
      { text: 'cd', tokens: [99, 100] },
    ]);
  });

  test('gives held-back text of its end as a last piece', async () => {
    const model = await load();
    expect(await texts(model.generate('hold', { maxTokens: 3 }))).toEqual(['ab', '?']);
  });

  test('runs without a reader when only the result is asked for', async () => {
    const model = await load();
    expect((await model.generate('go', { maxTokens: 3 }).result()).text).toBe('abc');
  });

  test('keeps its pieces for a reader who comes after the result', async () => {
    const model = await load();
    const generation = model.generate('go', { maxTokens: 3 });
    await generation.result();
    expect(await texts(generation)).toEqual(['a', 'b', 'c']);
  });

  test('ends when its reader leaves the loop, and says so in the result', async () => {
    const model = await load();
    const generation = model.generate('go', { maxTokens: 1e9 });
    for await (const { text } of generation) if (text === 'c') break;
    const result = await generation.result();
    expect(result.finishReason).toBe('abort');
    expect(result.text.startsWith('abc')).toBe(true);
  });

  test('ends by its signal without an error in the loop', async () => {
    const model = await load();
    const controller = new AbortController();
    const generation = model.generate('go', { maxTokens: 1e9, signal: controller.signal });
    for await (const { text } of generation) if (text === 'j') controller.abort();
    expect((await generation.result()).finishReason).toBe('abort');
  });

  test('draws no token after the engine heard of the abort', async () => {
    const { text, reply } = await generateInProcess((pieces, abort) => {
      if (pieces === 3) abort();
    });
    expect({ text, finishReason: reply.finishReason }).toEqual({ text: 'abc', finishReason: 'abort' });
  });

  test('does nothing when its signal was set before it began', async () => {
    const model = await load();
    const result = await model.generate('crash', { signal: AbortSignal.abort() }).result();
    expect(result).toMatchObject({ text: '', finishReason: 'abort', usage: { completionTokens: 0 } });
  });

  test('waits for the one before it', async () => {
    const model = await load();
    const order: string[] = [];
    const first = model
      .generate('go', { maxTokens: 50 })
      .result()
      .then(() => order.push('first'));
    const second = model
      .generate('go', { maxTokens: 1 })
      .result()
      .then(() => order.push('second'));
    const logits = model.logits([1]).then(() => order.push('logits'));
    await Promise.all([first, second, logits]);
    expect(order).toEqual(['first', 'second', 'logits']);
  });

  test('that is ended while it waits does not wait longer, nor let the next one in early', async () => {
    const model = await load();
    const order: string[] = [];
    const blocker = new AbortController();
    const waiting = new AbortController();
    const first = model.generate('go', { maxTokens: 1e9, signal: blocker.signal }).result();
    const second = model.generate('go', { signal: waiting.signal }).result();
    const third = model.generate('go', { maxTokens: 1 }).result();
    void first.then(() => order.push('first'));
    void third.then(() => order.push('third'));
    waiting.abort();
    expect((await second).text).toBe('');
    expect(order).toEqual([]);
    blocker.abort();
    await third;
    expect(order).toEqual(['first', 'third']);
  });

  test('lets other requests through between its tokens', async () => {
    const model = await load();
    const controller = new AbortController();
    const endless = model.generate('go', { maxTokens: 1e9, signal: controller.signal }).result();
    expect(await model.tokenize('hi')).toEqual([104, 105]);
    controller.abort();
    expect((await endless).finishReason).toBe('abort');
  });

  test('that fails leaves the model usable', async () => {
    const model = await load();
    const generation = model.generate('fail');
    await expect(texts(generation)).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW', message: 'failed on purpose' });
    await expect(generation.result()).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    await expect(model.generate('too long').result()).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    expect((await model.generate('go', { maxTokens: 1 }).result()).text).toBe('a');
  });
});

describe('a crash of the engine', () => {
  test('is an INTERNAL error, now and for every later call', async () => {
    const model = await load();
    await expect(model.generate('crash').result()).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(model.tokenize('x')).rejects.toThrow(/load the model again/);
    expect(() => model.generate('x')).toThrow(/load the model again/);
  });

  test('for want of memory is OUT_OF_MEMORY', async () => {
    const model = await load();
    await expect(model.generate('memory').result()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    await expect(model.memory()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  });

  test.each([
    ['throw later', /thrown outside of any call/],
    ['exit', /exited with code 3/],
  ])('outside of a call is noticed as well: %s', async (prompt, reason) => {
    const model = await load();
    const failed = model.generate(prompt, { maxTokens: 1e9 }).result();
    await expect(failed).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(failed).rejects.toThrow(reason);
    expect(() => model.generate('x')).toThrow(/load the model again/);
  });

  test('fails the generations that wait, too', async () => {
    const model = await load();
    const crashed = model.generate('crash').result();
    const waiting = model.generate('go').result();
    await expect(crashed).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  test('while loading fails the load', async () => {
    await expect(load(new TextEncoder().encode('CRASHING'))).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('after dispose', () => {
  test('every call and all that ran fails with DISPOSED', async () => {
    const model = await load();
    const running = model.generate('go', { maxTokens: 1e9 }).result();
    const waiting = model.generate('go').result();
    const disposed = model.dispose();
    await expect(running).rejects.toMatchObject({ code: 'DISPOSED' });
    await expect(waiting).rejects.toMatchObject({ code: 'DISPOSED' });
    await disposed;
    await expect(model.tokenize('x')).rejects.toMatchObject({ code: 'DISPOSED' });
    await expect(model.logits([1])).rejects.toMatchObject({ code: 'DISPOSED' });
    expect(() => model.generate('x')).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
    await model.dispose();
  });
});

describe('loading', () => {
  const files = new Map<string, Uint8Array>();
  let server: Server | undefined;
  let folder: string | undefined;

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.gguf`;
  }

  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    server = undefined;
    if (folder) await rm(folder, { recursive: true });
    folder = undefined;
    files.clear();
  });

  const bytes = new Uint8Array(9_000_001).fill(7);

  test.each([
    ['a Uint8Array', () => bytes],
    ['an ArrayBuffer', () => bytes.slice().buffer],
    ['a Blob', () => new Blob([bytes])],
    ['a list of files', () => [bytes.subarray(0, 5_000_000), new Blob([bytes.subarray(5_000_000)])]],
  ])('takes %s, whole, and leaves it usable', async (_name, source) => {
    const progress: LoadProgress[] = [];
    const given = source();
    const model = await load(given, { onProgress: (step) => progress.push(step) });
    expect(model.info.weightBytes).toBe(bytes.length);
    expect(progress.at(-1)).toEqual({ loadedBytes: bytes.length, totalBytes: bytes.length });
    if (given instanceof ArrayBuffer || given instanceof Uint8Array) expect(given.byteLength).toBe(bytes.length);
  });

  test('takes a path and a file URL', async () => {
    folder = await mkdtemp(join(tmpdir(), 'kvasir-'));
    const path = join(folder, 'a model.gguf');
    await writeFile(path, bytes);
    expect((await load(path)).info.weightBytes).toBe(bytes.length);
    expect((await load(new URL(`file://${path.replace(' ', '%20')}`))).info.weightBytes).toBe(bytes.length);
    await expect(load(join(folder, 'missing.gguf'))).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    await expect(load(folder)).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
  });

  test('takes a URL whose server tells the length', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-length', bytes.length);
      response.end(bytes);
    });
    const progress: LoadProgress[] = [];
    expect((await load(url, { onProgress: (step) => progress.push(step) })).info.weightBytes).toBe(bytes.length);
    expect(progress.every(({ totalBytes }) => totalBytes === bytes.length)).toBe(true);
  });

  test('takes a URL whose server does not tell the length', async () => {
    const url = await serve((_request, response) => {
      response.write(bytes.subarray(0, 100_000));
      response.end(bytes.subarray(100_000));
    });
    const progress: LoadProgress[] = [];
    expect((await load(new URL(url), { onProgress: (step) => progress.push(step) })).info.weightBytes).toBe(
      bytes.length,
    );
    expect(progress[0]?.totalBytes).toBeUndefined();
    expect(progress.at(-1)?.totalBytes).toBe(bytes.length);
  });

  test('takes the URLs of a split model', async () => {
    const url = await serve((request, response) => {
      response.setHeader('content-length', bytes.length);
      response.end(request.method === 'HEAD' ? undefined : bytes);
    });
    expect((await load([url, url, url])).info.weightBytes).toBe(3 * bytes.length);
  });

  test.each<[string, RegExp, RequestListener]>([
    ['an error status', /404/, (_request, response) => response.writeHead(404).end('nothing here')],
    [
      'a web page',
      /web page/,
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>'),
    ],
    [
      'a body that breaks off',
      /could not be read/,
      (_request, response) => {
        response.writeHead(200, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, 50_000), () => response.destroy());
      },
    ],
  ])('reports %s as DOWNLOAD_FAILED', async (_name, message, listener) => {
    const url = await serve(listener);
    const failed = load(url);
    await expect(failed).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    await expect(failed).rejects.toThrow(message);
  });

  test('reports a host that does not answer as DOWNLOAD_FAILED', async () => {
    const url = await serve(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    await expect(load(url)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  });

  test('ends with ABORTED by its signal, also while bytes come', async () => {
    await expect(load(bytes, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
    const controller = new AbortController();
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 50_000));
    });
    await expect(load(url, { signal: controller.signal, onProgress: () => controller.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });

  test('fails with the error that the progress callback throws', async () => {
    const onProgress = (): void => {
      throw new Error('thrown by the caller');
    };
    await expect(load(bytes, { onProgress })).rejects.toThrow('thrown by the caller');
  });
});
