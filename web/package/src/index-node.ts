/** The package's entry in Node; its types and words are those of index.ts. Internal. */
import { inspectModelOn, loadModelOn } from './load-model.js';
import type { Model } from './model.js';
import { nodePlatform } from './platform-node.js';
import type { LoadOptions, ModelInspection, ModelSource } from './types.js';

export { embeddedModel } from './embedded-model.js';
export { KvasirError } from './errors.js';

export async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  return loadModelOn(nodePlatform, source, options);
}

export async function inspectModel(source: ModelSource, options: LoadOptions = {}): Promise<ModelInspection> {
  return inspectModelOn(nodePlatform, source, options);
}
