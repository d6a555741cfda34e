// In a page: Kvasir. The file is a Blob before anything is timed.
import { measureKvasir } from '../systems/measure-kvasir.mjs';
import { modelBlob } from './model-blob.mjs';

export async function measure({ model, variant, plan }) {
  const { loadModel } = await import('/package/index.js');
  return measureKvasir(loadModel, await modelBlob(model), variant, plan);
}
