/** Loads the stand-in for the WebAssembly module through the real package. */
import { loadModelOn } from '../../../web/package/dist/load-model.js';
import type { Model } from '../../../web/package/dist/model.js';
import type { Platform } from '../../../web/package/dist/platform.js';
import { nodePlatform } from '../../../web/package/dist/platform-node.js';
import type { LoadOptions, ModelSource } from '../../../web/package/dist/types.js';

export const fakeUrl = new URL('./kvasir-fake.mjs', import.meta.url).href;

const fakePlatform: Platform = {
  ...nodePlatform,
  startWorker() {
    const worker = nodePlatform.startWorker();
    const post = worker.post.bind(worker);
    worker.post = (message, transfer) => {
      const isLoad = 'request' in message && message.request.type === 'load';
      post(isLoad ? { ...message, request: { ...message.request, moduleUrl: fakeUrl } } : message, transfer);
    };
    return worker;
  },
};

export function loadFake(source: ModelSource = new Uint8Array(8), options: LoadOptions = {}): Promise<Model> {
  return loadModelOn(fakePlatform, source, options);
}
