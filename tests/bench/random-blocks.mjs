// Blocks of random quantized weights, as GGUF files hold them.

/** xorshift32: the same numbers from the same seed everywhere. */
export class Random {
  #state;
  constructor(seed) {
    this.#state = seed | 0 || 1;
  }
  bits() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }
  /** In [0, 1). */
  unit() {
    return this.bits() / 2 ** 32;
  }
  below(n) {
    return Math.floor(this.unit() * n);
  }
}

function f16Bits(value) {
  const [bits] = new Uint32Array(new Float32Array([value]).buffer);
  const exponent = ((bits >>> 23) & 255) - 112;
  if (exponent <= 0) return Math.round(value * 2 ** 24); // subnormal
  return (exponent << 10) | ((bits >>> 13) & 1023);
}

function putF16(block, at, value) {
  const bits = f16Bits(value);
  block[at] = bits & 255;
  block[at + 1] = bits >>> 8;
}

/** 8 scales and 8 mins of 6 bits in 12 bytes; the mins are the scales again, so that the weights have no mean. */
function putScalesAndMins(block, at, random) {
  const scales = Array.from({ length: 8 }, () => 16 + random.below(48));
  for (let i = 0; i < 4; i++) {
    const [low, high] = [scales[i], scales[i + 4]];
    block[at + i] = block[at + 4 + i] = low | ((high >> 4) << 6);
    block[at + 8 + i] = (high & 15) * 17;
  }
}

const KQUANT_SCALE = 40; // what the 6-bit scales are on average

// `deviation` of the weights is met roughly; `finish` sets what may not be random in a block of random bytes.
const jitter = (random) => 0.75 + random.unit() / 2;
const scaled = (rms) => (block, deviation, random) => putF16(block, 0, (deviation / rms) * jitter(random));
const withMins = (rms, middle) => (block, deviation, random) => {
  const d = (deviation / rms / KQUANT_SCALE) * jitter(random);
  putF16(block, 0, d);
  putF16(block, 2, d * middle);
  putScalesAndMins(block, 4, random);
};

export const TYPES = {
  F32: {
    id: 0,
    columns: 1,
    bytes: 4,
    finish: (block, deviation, random) =>
      new DataView(block.buffer, block.byteOffset).setFloat32(0, (random.unit() - 0.5) * deviation * 3.46, true),
  },
  F16: {
    id: 1,
    columns: 1,
    bytes: 2,
    finish: (block, deviation, random) => {
      putF16(block, 0, random.unit() * deviation * 1.73);
      block[1] |= random.below(2) << 7;
    },
  },
  Q4_0: { id: 2, columns: 32, bytes: 18, finish: scaled(4.6) },
  Q5_0: { id: 6, columns: 32, bytes: 22, finish: scaled(9.2) },
  Q8_0: {
    id: 8,
    columns: 32,
    bytes: 34,
    finish: (block, deviation, random) => {
      scaled(73)(block, deviation, random);
      for (let i = 2; i < 34; i++) if (block[i] === 128) block[i] = 0; // no quantizer writes it
    },
  },
  Q4_K: { id: 12, columns: 256, bytes: 144, finish: withMins(4.6, 7.5) },
  Q5_K: { id: 13, columns: 256, bytes: 176, finish: withMins(9.2, 15.5) },
  Q6_K: {
    id: 14,
    columns: 256,
    bytes: 210,
    finish: (block, deviation, random) => {
      for (let i = 192; i < 208; i++) block[i] = (16 + random.below(48)) * (random.below(2) === 0 ? 1 : -1);
      putF16(block, 208, (deviation / 18.5 / KQUANT_SCALE) * jitter(random));
    },
  },
};

// Distinct bytes of a tensor: what is longer repeats them, which no kernel notices.
const POOL_BYTES = 8 << 20;

/** Yields the bytes of a [rows, cols] tensor, whose weights have about the deviation 1 / sqrt(cols). */
export function* tensorBytes(type, rows, cols, seed) {
  const { columns, bytes, finish } = TYPES[type];
  const total = ((rows * cols) / columns) * bytes;
  const pool = new Uint8Array(Math.min(total, Math.floor(POOL_BYTES / bytes) * bytes));
  const random = new Random(seed);
  const words = new Uint32Array(pool.buffer, 0, pool.length >> 2);
  for (let i = 0; i < words.length; i++) words[i] = random.bits();
  for (let at = 0; at < pool.length; at += bytes) {
    finish(pool.subarray(at, at + bytes), 1 / Math.sqrt(cols), random);
  }
  for (let left = total; left > 0; left -= pool.length) yield pool.subarray(0, Math.min(left, pool.length));
}
