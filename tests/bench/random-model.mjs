// Writes a GGUF model of a real model's shape with random weights, for benchmarks: what it says means nothing.
// Usage: node tests/bench/random-model.mjs SHAPE MIX FILE
// SHAPE: smollm2-135m, tinyllama-1.1b, llama-3.2-1b. MIX: F32, F16, Q4_0, Q8_0, Q4_K_M.
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { tensorBytes, TYPES } from './random-blocks.mjs';

export const SHAPES = {
  'smollm2-135m': {
    layers: 30,
    dim: 576,
    heads: 9,
    kvHeads: 3,
    ffn: 1536,
    vocabulary: 49152,
    context: 8192,
    ropeBase: 100000,
    tied: true,
  },
  'tinyllama-1.1b': {
    layers: 22,
    dim: 2048,
    heads: 32,
    kvHeads: 4,
    ffn: 5632,
    vocabulary: 32000,
    context: 8192,
    ropeBase: 10000,
    tied: false,
  },
  'llama-3.2-1b': {
    layers: 16,
    dim: 2048,
    heads: 32,
    kvHeads: 8,
    ffn: 8192,
    vocabulary: 128256,
    context: 131072,
    ropeBase: 500000,
    tied: true,
  },
};

/** The letters, each a token of its own: n of them are a prompt of n tokens. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
export const promptOf = (tokens) => LETTERS.repeat(Math.ceil(tokens / 26)).slice(0, tokens);

const ALIGNMENT = 32;
// What llama.cpp takes where rows are no multiple of 256.
const WITHOUT_K = { Q4_K: 'Q5_0', Q6_K: 'Q8_0' };

/** The type that llama-quantize gives a matrix in a mix. */
function typeOf(mix, name, cols, layer, layers, tied) {
  if (mix !== 'Q4_K_M') {
    const isHead = name === 'output' || (tied && name === 'token_embd');
    return mix === 'Q4_0' && isHead ? (cols % 256 === 0 ? 'Q6_K' : 'Q8_0') : mix;
  }
  const eighth = Math.floor(layers / 8);
  const more = layer < eighth || layer >= Math.floor((7 * layers) / 8) || (layer - eighth) % 3 === 2;
  const isHead = name === 'output' || (tied && name === 'token_embd');
  const better = isHead || ((name === 'attn_v' || name === 'ffn_down') && more);
  const type = better ? 'Q6_K' : 'Q4_K';
  return cols % 256 === 0 ? type : WITHOUT_K[type];
}

function tensorsOf(shape, mix) {
  const { layers, dim, heads, kvHeads, ffn, vocabulary, tied } = shape;
  const kvDim = (dim / heads) * kvHeads;
  const tensors = [];
  const matrix = (name, rows, cols, layer = -1) => {
    const prefix = layer < 0 ? '' : `blk.${layer}.`;
    tensors.push({ name: `${prefix}${name}.weight`, type: typeOf(mix, name, cols, layer, layers, tied), rows, cols });
  };
  const norm = (name, layer = -1) =>
    tensors.push({ name: `${layer < 0 ? '' : `blk.${layer}.`}${name}.weight`, type: 'F32', rows: 0, cols: dim });
  matrix('token_embd', vocabulary, dim);
  for (let layer = 0; layer < layers; layer++) {
    norm('attn_norm', layer);
    matrix('attn_q', dim, dim, layer);
    matrix('attn_k', kvDim, dim, layer);
    matrix('attn_v', kvDim, dim, layer);
    matrix('attn_output', dim, dim, layer);
    norm('ffn_norm', layer);
    matrix('ffn_gate', ffn, dim, layer);
    matrix('ffn_up', ffn, dim, layer);
    matrix('ffn_down', dim, ffn, layer);
  }
  norm('output_norm');
  if (!tied) matrix('output', vocabulary, dim);
  return tensors;
}

const sizeOf = ({ type, rows, cols }) => ((Math.max(rows, 1) * cols) / TYPES[type].columns) * TYPES[type].bytes;
const aligned = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Bytes of numbers and strings, one after the other. */
class Bytes {
  #parts = [];
  u32(value) {
    this.#parts.push(Buffer.from(new Uint32Array([value]).buffer));
  }
  f32(value) {
    this.#parts.push(Buffer.from(new Float32Array([value]).buffer));
  }
  u64(value) {
    this.#parts.push(Buffer.from(new BigUint64Array([BigInt(value)]).buffer));
  }
  flag(value) {
    this.#parts.push(Buffer.from([value ? 1 : 0]));
  }
  string(text) {
    this.u64(Buffer.byteLength(text));
    this.#parts.push(Buffer.from(text));
  }
  bytes() {
    return Buffer.concat(this.#parts);
  }
}

const U32 = 4,
  F32 = 6,
  BOOL = 7,
  STRING = 8,
  ARRAY = 9,
  I32 = 5;
const UNKNOWN = 2,
  CONTROL = 3,
  BYTE = 6,
  NORMAL = 1;

function vocabularyOf(size) {
  const tokens = ['<unk>', '<s>', '</s>'];
  const types = [UNKNOWN, CONTROL, CONTROL];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    types.push(BYTE);
  }
  // No token is two others joined, so every letter stays one.
  for (const token of [...LETTERS, '▁']) tokens.push(token);
  while (tokens.length < size) tokens.push(`▁${tokens.length}▁`);
  while (types.length < size) types.push(NORMAL);
  return { tokens, types };
}

function header(name, shape, mix, tensors) {
  const { tokens, types } = vocabularyOf(shape.vocabulary);
  const out = new Bytes();
  let pairs = 0;
  const values = new Bytes();
  const put = (key, type, write) => {
    values.string(key);
    values.u32(type);
    write(values);
    pairs += 1;
  };
  const u32 = (key, value) => put(key, U32, (to) => to.u32(value));
  const f32 = (key, value) => put(key, F32, (to) => to.f32(value));
  const string = (key, value) => put(key, STRING, (to) => to.string(value));
  const array = (key, type, items, write) =>
    put(key, ARRAY, (to) => {
      to.u32(type);
      to.u64(items.length);
      for (const item of items) write(to, item);
    });
  string('general.architecture', 'llama');
  string('general.name', `random ${name} ${mix}`);
  u32('llama.context_length', shape.context);
  u32('llama.embedding_length', shape.dim);
  u32('llama.block_count', shape.layers);
  u32('llama.feed_forward_length', shape.ffn);
  u32('llama.attention.head_count', shape.heads);
  u32('llama.attention.head_count_kv', shape.kvHeads);
  u32('llama.rope.dimension_count', shape.dim / shape.heads);
  f32('llama.rope.freq_base', shape.ropeBase);
  f32('llama.attention.layer_norm_rms_epsilon', 1e-5);
  string('tokenizer.ggml.model', 'llama');
  array('tokenizer.ggml.tokens', STRING, tokens, (to, token) => to.string(token));
  array(
    'tokenizer.ggml.scores',
    F32,
    tokens.map((_, i) => -i),
    (to, score) => to.f32(score),
  );
  array('tokenizer.ggml.token_type', I32, types, (to, type) => to.u32(type));
  u32('tokenizer.ggml.bos_token_id', 1);
  u32('tokenizer.ggml.eos_token_id', 2);
  u32('tokenizer.ggml.unknown_token_id', 0);
  for (const key of ['tokenizer.ggml.add_bos_token', 'tokenizer.ggml.add_space_prefix']) {
    put(key, BOOL, (to) => to.flag(false));
  }
  let offset = 0;
  const infos = new Bytes();
  for (const tensor of tensors) {
    infos.string(tensor.name);
    const shapeOf = tensor.rows === 0 ? [tensor.cols] : [tensor.cols, tensor.rows];
    infos.u32(shapeOf.length);
    for (const size of shapeOf) infos.u64(size);
    infos.u32(TYPES[tensor.type].id);
    infos.u64(offset);
    offset += aligned(sizeOf(tensor));
  }
  out.u32(0x46554747); // "GGUF"
  out.u32(3);
  out.u64(tensors.length);
  out.u64(pairs);
  const bytes = Buffer.concat([out.bytes(), values.bytes(), infos.bytes()]);
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}

/** A norm scales every value by about 1. */
function normBytes(cols) {
  return Buffer.from(Float32Array.from({ length: cols }, (_, i) => 1 + 0.1 * Math.sin(i)).buffer);
}

/** `overrides` change the shape, for example { layers: 2 }. */
export function writeRandomModel(shapeName, mix, file, overrides = {}) {
  const shape = { ...SHAPES[shapeName], ...overrides };
  const tensors = tensorsOf(shape, mix);
  const partial = `${file}.partial`;
  const out = openSync(partial, 'w');
  writeSync(out, header(shapeName, shape, mix, tensors));
  for (const [i, tensor] of tensors.entries()) {
    const parts =
      tensor.rows === 0 ? [normBytes(tensor.cols)] : tensorBytes(tensor.type, tensor.rows, tensor.cols, i + 1);
    for (const part of parts) writeSync(out, part);
    const size = sizeOf(tensor);
    if (aligned(size) > size) writeSync(out, Buffer.alloc(aligned(size) - size));
  }
  closeSync(out);
  renameSync(partial, file);
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const [shape, mix, file, layers] = argv.slice(2);
  if (!(shape in SHAPES) || !['F32', 'F16', 'Q4_0', 'Q8_0', 'Q4_K_M'].includes(mix) || file === undefined) {
    console.error(
      `Usage: node tests/bench/random-model.mjs ${Object.keys(SHAPES).join('|')} F32|F16|Q4_0|Q8_0|Q4_K_M FILE`,
    );
    process.exit(2);
  }
  writeRandomModel(shape, mix, file, layers === undefined ? {} : { layers: Number(layers) });
}
