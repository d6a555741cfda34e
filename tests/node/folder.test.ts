/** Hugging Face folders as sources: paths, URLs and lists of files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadModel } from '../../web/package/dist/index-node.js';
import type { LoadOptions, ModelSource } from '../../web/package/dist/types.js';
import { folderFiles, type FolderFiles } from './folder-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kvasir-folder-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, files: FolderFiles): string {
  const path = mkdtempSync(join(folder, name));
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(path, file), bytes);
  return path;
}

function without(name: string, files: FolderFiles): FolderFiles {
  return Object.fromEntries(Object.entries(files).filter(([file]) => file !== name));
}

function asFiles(files: FolderFiles): File[] {
  return Object.entries(files).map(([name, bytes]) => new File([bytes], name));
}

async function logitsOf(source: ModelSource, options: LoadOptions = {}): Promise<Float32Array> {
  await using model = await loadModel(source, options);
  return await model.logits([1, 2, 3, 4, 5]);
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

describe('a folder', () => {
  test('is a model, whichever way its files come', async () => {
    const expected = await logitsOf(write('plain', folderFiles()));
    expect(expected.some((value) => value !== 0)).toBe(true);
    expect(await logitsOf(write('sharded', folderFiles(true)))).toEqual(expected);
    expect(await logitsOf(asFiles(folderFiles(true)).reverse())).toEqual(expected);
  });

  test('says what it is', async () => {
    await using model = await loadModel(write('info', folderFiles()));
    expect(model.info).toMatchObject({ vocabularyOnly: false, architecture: 'llama', vocabularySize: 17 });
    expect(await model.tokenize('abc<end>', { parseSpecial: true })).toEqual([0, 1, 2, 16]);
    const { text, usage } = await model.generate('abc', { maxTokens: 5, temperature: 0, ignoreEos: true }).result();
    expect(usage.completionTokens).toBe(5);
    expect(text).toMatch(/^[a-p]*$/);
  });

  test('is quantized while it loads', async () => {
    const path = write('quantized', folderFiles());
    const expected = await logitsOf(path);
    for (const [quantize, least] of [
      ['q8_0', 0.9995],
      ['q4_0', 0.97],
    ] as const) {
      await using model = await loadModel(path, { quantize });
      expect(model.info.tensors.map(({ type }) => type)).toContain(quantize.toUpperCase());
      const logits = await model.logits([1, 2, 3, 4, 5]);
      expect(logits).not.toEqual(expected);
      expect(cosine(logits, expected)).toBeGreaterThan(least);
    }
  });

  test('with a vocabulary alone can tokenize', async () => {
    const path = write('vocabulary', without('model.safetensors', folderFiles()));
    for (const source of [path, join(path, 'tokenizer.json')]) {
      await using model = await loadModel(source);
      expect(model.info.vocabularyOnly).toBe(true);
      expect(await model.tokenize('ba')).toEqual([1, 0]);
    }
  });

  test('that lacks a file says which', async () => {
    for (const [name, files] of [
      ['config.json', folderFiles()],
      ['tokenizer.json', folderFiles()],
      ['model-00002-of-00002.safetensors', folderFiles(true)],
    ] as const) {
      await expect(loadModel(write('lacking', without(name, files)))).rejects.toMatchObject({
        code: 'MALFORMED_FILE',
        message: expect.stringContaining(name) as string,
      });
    }
    await expect(loadModel(write('empty', {}))).rejects.toMatchObject({ code: 'MALFORMED_FILE' });
  });

  test('takes no other quantization', async () => {
    await expect(loadModel(folder, { quantize: 'q2' as 'q8_0' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('a folder on a server', () => {
  const asked: string[] = [];
  let server: Server;
  let address: string;
  let files: FolderFiles = {};
  beforeAll(async () => {
    server = createServer(({ url, method }, response) => {
      const name = (url ?? '').replace('/model/', '');
      asked.push(name);
      const bytes = files[name];
      response.writeHead(bytes === undefined ? 404 : 200, { 'content-length': bytes?.byteLength ?? 0 });
      response.end(method === 'HEAD' ? undefined : bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model/`;
  });
  afterAll(() => server.close());

  test('is read by its index', async () => {
    files = folderFiles(true);
    const expected = await logitsOf(asFiles(files));
    expect(await logitsOf(address)).toEqual(expected);
    expect(asked).not.toContain('model.safetensors');
    files = folderFiles();
    expect(await logitsOf(new URL(address))).toEqual(expected);
  });

  test('that is none gives DOWNLOAD_FAILED', async () => {
    files = {};
    await expect(loadModel(address)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    files = without('model.safetensors', folderFiles());
    await expect(loadModel(address)).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringContaining('model.safetensors') as string,
    });
  });
});
