/**
 * Where the WebAssembly builds are. Each address is spelled out, as bundlers look for it; glue code and binary are plain
 * assets to them. Internal.
 */
import type { Variant } from './types.js';

export interface WasmUrls {
  readonly moduleUrl: string;
  readonly wasmUrl: string;
}

export function wasmUrls(variant: Variant): WasmUrls {
  switch (variant) {
    case 'st':
      return {
        moduleUrl: new URL('./wasm/kvasir-st.js', import.meta.url).href,
        wasmUrl: new URL('./wasm/kvasir-st.wasm', import.meta.url).href,
      };
    case 'mt':
      return {
        moduleUrl: new URL('./wasm/kvasir-mt.js', import.meta.url).href,
        wasmUrl: new URL('./wasm/kvasir-mt.wasm', import.meta.url).href,
      };
    case 'relaxed':
      return {
        moduleUrl: new URL('./wasm/kvasir-relaxed.js', import.meta.url).href,
        wasmUrl: new URL('./wasm/kvasir-relaxed.wasm', import.meta.url).href,
      };
    case 'relaxed-st':
      return {
        moduleUrl: new URL('./wasm/kvasir-relaxed-st.js', import.meta.url).href,
        wasmUrl: new URL('./wasm/kvasir-relaxed-st.wasm', import.meta.url).href,
      };
  }
}
