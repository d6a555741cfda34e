/** Which build of the engine to run, with how many threads. Internal. */
import { relaxedSimd, simd, threads as wasmThreads } from 'wasm-feature-detect';
import { KvasirError } from './errors.js';
import type { Platform } from './platform.js';
import { relaxedDotIsRight } from './relaxed-dot.js';
import type { Variant } from './types.js';

const MOST_THREADS_BY_DEFAULT = 8;

export interface EngineChoice {
  readonly variant: Variant;
  readonly threads: number;
}

export function isThreaded(variant: Variant): boolean {
  return variant === 'mt' || variant === 'relaxed';
}

function isRelaxed(variant: Variant): boolean {
  return variant === 'relaxed' || variant === 'relaxed-st';
}

/**
 * The variant asked for, or the fastest that runs here. UNSUPPORTED_MODEL where WebAssembly lacks what it needs,
 * INVALID_ARGUMENT for threads in a variant that has none.
 */
export async function chooseEngine(
  platform: Platform,
  wanted: Variant | 'auto',
  threads: number | undefined,
): Promise<EngineChoice> {
  if (!(await simd())) {
    throw new KvasirError('UNSUPPORTED_MODEL', 'Kvasir needs WebAssembly SIMD, which this browser does not have');
  }
  platform.allowRelaxedSimd();
  const hasThreads = platform.canShareMemory() && (await wasmThreads());
  // Who asked for a plain variant pays nothing for the others.
  const mayBeRelaxed = wanted === 'auto' || isRelaxed(wanted);
  const hasRelaxed = mayBeRelaxed && (await relaxedSimd()) && (relaxedDotIsRight() || platform.repairRelaxedDot());
  const variant = wanted === 'auto' ? fastest(hasThreads, hasRelaxed, threads) : wanted;
  if (isThreaded(variant) && !hasThreads) {
    throw new KvasirError(
      'UNSUPPORTED_MODEL',
      `variant "${variant}" needs threads: a page has them when it is cross-origin isolated ` +
        '(headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp)',
    );
  }
  if (isRelaxed(variant) && !hasRelaxed) {
    throw new KvasirError(
      'UNSUPPORTED_MODEL',
      `variant "${variant}" needs relaxed SIMD, which is missing or wrong here`,
    );
  }
  if (!isThreaded(variant)) {
    if (threads !== undefined && threads > 1 && wanted !== 'auto') {
      throw new KvasirError('INVALID_ARGUMENT', `threads must be 1 in variant "${variant}", not ${threads}`);
    }
    return { variant, threads: 1 };
  }
  return { variant, threads: threads ?? Math.min(MOST_THREADS_BY_DEFAULT, platform.physicalCores()) };
}

function fastest(hasThreads: boolean, hasRelaxed: boolean, threads: number | undefined): Variant {
  const threaded = hasThreads && threads !== 1;
  if (hasRelaxed) return threaded ? 'relaxed' : 'relaxed-st';
  return threaded ? 'mt' : 'st';
}
