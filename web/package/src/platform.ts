/** What differs between a browser and Node on the caller's side. Internal. */
import type { FileSource, FromEngine, ToEngine } from './protocol.js';

/** The worker that the engine runs in. */
export interface EngineWorker {
  post(message: ToEngine, transfer: readonly ArrayBuffer[]): void;
  /** Once. `onCrash`: the worker died, with the reason. */
  listen(onMessage: (message: FromEngine) => void, onCrash: (reason: string) => void): void;
  /** An idle worker does not keep the process alive. */
  setBusy(busy: boolean): void;
  terminate(): Promise<void>;
}

export interface Platform {
  startWorker(): EngineWorker;
  /** An estimate of the physical cores. */
  physicalCores(): number;
  /** Whether memory may be shared between threads here. */
  canShareMemory(): boolean;
  /** Switches relaxed SIMD on where it is behind a flag. */
  allowRelaxedSimd(): void;
  /** Makes an engine compute relaxed dot products right that does not yet; false where that cannot be. */
  repairRelaxedDot(): boolean;
  /** How the engine gets at a URL, or at a string that is one or a path. */
  locate(file: string | URL): FileSource;
  /** The paths of the files below, where a source is a folder. */
  filesOfFolder(source: FileSource): Promise<readonly string[] | undefined>;
}
