// What a model is, as a JavaScript object (ModelInfo in web/package).
#ifndef KVASIR_WASM_MODEL_INFO_H_
#define KVASIR_WASM_MODEL_INFO_H_

#include <emscripten/val.h>

#include "runtime/model.h"

namespace kvasir {

emscripten::val ModelInfo(const Model& model);

}  // namespace kvasir

#endif  // KVASIR_WASM_MODEL_INFO_H_
