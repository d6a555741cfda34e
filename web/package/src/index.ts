/**
 * Kvasir runs language models on the CPU of whatever opens the page.
 *
 * @example
 * ```ts
 * const model = await loadModel(embeddedModel);
 * for await (const piece of model.generate('Once upon a time')) output.append(piece.text);
 * await model.dispose();
 * ```
 *
 * @packageDocumentation
 */
import { inspectModelOn, loadModelOn } from './load-model.js';
import type { Model } from './model.js';
import { browserPlatform } from './platform-browser.js';
import type { LoadOptions, ModelInspection, ModelSource } from './types.js';

export { embeddedModel } from './embedded-model.js';
export { KvasirError, type ErrorCode } from './errors.js';
export type { Answer } from './chat/answer.js';
export type { Chat } from './chat/chat.js';
export type { Generation } from './generation.js';
export type { Model } from './model.js';
export type { Session } from './session.js';
export type * from './types.js';

/**
 * Loads a model: the bytes stream into the engine, which starts in a worker of its own.
 *
 * @param source A GGUF file, or the files of a split one in their order.
 * @throws KvasirError such as `DOWNLOAD_FAILED`, `MALFORMED_FILE`, `UNSUPPORTED_MODEL`, `OUT_OF_MEMORY`, `ABORTED`.
 */
export async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  return loadModelOn(browserPlatform, source, options);
}

/**
 * Tells what a model is and whether it can run here, without loading its weights: all bytes are read, none is kept.
 *
 * @param options `contextLength` for the memory it would take, `onProgress`, `signal`.
 * @throws KvasirError as {@link loadModel}; a model that cannot run is no error but a `problem`.
 */
export async function inspectModel(source: ModelSource, options: LoadOptions = {}): Promise<ModelInspection> {
  return inspectModelOn(browserPlatform, source, options);
}
