/** Whether a model can run here, by what its files say. Internal. */
import { formatBytes } from './format.js';
import type { EngineInfo, LoadOptions, ModelInfo, ModelInspection } from './types.js';

const DEFAULT_CONTEXT = 4096;
const LIMIT_BYTES = 2 ** 32;
/** What an engine takes beside weights and KV cache: measured at 15 to 58 MiB (docs/performance.md). */
const ENGINE_BYTES = 40 << 20;

export function inspection(info: ModelInfo, { variant, threads }: EngineInfo, options: LoadOptions): ModelInspection {
  const memory = memoryOf(info, options.contextLength);
  const least = memory === null ? 0 : Math.min(...Object.values(memory.totalBytes));
  const problem =
    info.problem === null && least > LIMIT_BYTES
      ? `it takes ${formatBytes(least)} at least, and WebAssembly ends at ${formatBytes(LIMIT_BYTES)}; take a smaller quantization or context`
      : info.problem;
  return { ...info, variant, threads, memory, problem };
}

function memoryOf(info: ModelInfo, wanted: number | undefined): ModelInspection['memory'] {
  const perToken = info.kvCacheBytesPerToken;
  if (perToken === null) return null;
  const contextLength = wanted ?? Math.min(info.contextLength ?? DEFAULT_CONTEXT, DEFAULT_CONTEXT);
  const total = (bytes: number): number => info.weightBytes + bytes * contextLength + ENGINE_BYTES;
  return {
    contextLength,
    totalBytes: { f32: total(perToken.f32), f16: total(perToken.f16), i8: total(perToken.i8) },
    limitBytes: LIMIT_BYTES,
  };
}
