/** Values and errors of the bindings. Internal. */
import { errorFromCode, KvasirError } from '../errors.js';
import type { Outcome } from '../wasm-module.js';

/** The value, or the error thrown. */
export function take<T>(outcome: Outcome<T>): T {
  if ('code' in outcome) throw errorFromCode(outcome.code, outcome.message);
  return outcome.value;
}

/** Frees an object of the bindings; after a crash there is nothing to free. */
export function release(object: { delete(): void }): void {
  try {
    object.delete();
  } catch {
    // Whoever called reports the crash.
  }
}

/** Beyond this, an engine that dies has died of its memory: 32-bit WebAssembly ends at 4 GiB. */
const NEARLY_ALL_MEMORY = 3.5 * 2 ** 30;

/** What an error that no binding returned means: the engine broke down. */
export function crashError(error: unknown, memoryBytes: number): KvasirError {
  const text = error instanceof Error ? error.message : String(error);
  const outOfMemory = memoryBytes > NEARLY_ALL_MEMORY || /OOM|memory/i.test(text);
  return outOfMemory
    ? new KvasirError('OUT_OF_MEMORY', `WebAssembly ran out of memory (${text}); load the model again`)
    : new KvasirError('INTERNAL', `the engine crashed: ${text}; load the model again`);
}
