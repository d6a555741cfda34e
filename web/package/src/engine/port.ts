/** What the engine needs of the worker it runs in. Internal. */
import type { FromEngine, ToEngine } from '../protocol.js';
import type { OpenFile } from './open-file.js';

export interface EnginePort {
  post(message: FromEngine, transfer: readonly ArrayBuffer[]): void;
  listen(onMessage: (message: ToEngine) => void): void;
  /** Lets messages that wait be handled. */
  nextTask(): Promise<void>;
  /** Opens a file by path. */
  openPath(path: string): Promise<OpenFile>;
}
