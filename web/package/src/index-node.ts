/** The package's entry in Node; its types and words are those of index.ts. Internal. */
import { loadModelOn } from './load-model.js';
import type { Model } from './model.js';
import { nodePlatform } from './platform-node.js';
import type { LoadOptions, ModelSource } from './types.js';

export { embeddedModel } from './embedded-model.js';
export { KvasirError } from './errors.js';

export async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  return loadModelOn(nodePlatform, source, options);
}
