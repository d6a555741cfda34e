/** The small story model that comes with the package, for {@link loadModel}. */
export const embeddedModel: URL = new URL('../models/kvasir-stories.gguf', import.meta.url);
