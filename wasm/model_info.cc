#include "wasm/model_info.h"

#include <optional>
#include <string>
#include <utility>

namespace kvasir {
namespace {

using emscripten::val;

val Number(int64_t value) { return val(static_cast<double>(value)); }

val TokenOrNull(std::optional<TokenId> token) { return token ? val(*token) : val::null(); }

val TextOrNull(const std::string& text) { return text.empty() ? val::null() : val(text); }

val Tensors(const Model& model) {
  val list = val::array();
  for (const auto& [type, use] : model.type_use()) {
    val entry = val::object();
    const std::optional<TensorTypeTraits> traits = FindTensorTypeTraits(type);
    entry.set("type", traits ? val(std::string(traits->name)) : val::null());
    entry.set("tensors", Number(use.tensors));
    entry.set("parameters", Number(use.elements));
    entry.set("bytes", Number(use.bytes));
    list.call<void>("push", std::move(entry));
  }
  return list;
}

val Shape(const ModelConfig& config) {
  val shape = val::object();
  shape.set("layers", Number(config.layers));
  shape.set("dim", Number(config.dim));
  shape.set("heads", Number(config.heads));
  shape.set("kvHeads", Number(config.kv_heads));
  shape.set("headDim", Number(config.head_dim));
  shape.set("ffnDim", Number(config.ffn_dim));
  return shape;
}

}  // namespace

emscripten::val ModelInfo(const Model& model) {
  const Tokenizer& tokenizer = model.tokenizer();
  int64_t parameters = 0;
  int64_t bytes = 0;
  for (const auto& [type, use] : model.type_use()) {
    parameters += use.elements;
    bytes += use.bytes;
  }
  val info = val::object();
  info.set("name", TextOrNull(model.description().name));
  info.set("license", TextOrNull(model.description().license));
  info.set("chatTemplate", TextOrNull(model.description().chat_template));
  // The embedding may have more rows than the vocabulary has tokens (padding).
  info.set("vocabularySize",
           Number(model.has_weights() ? model.config().vocab_size : tokenizer.vocab_size()));
  info.set("bosToken", TokenOrNull(tokenizer.bos()));
  info.set("eosToken", TokenOrNull(tokenizer.eos()));
  info.set("addsBos", tokenizer.adds_bos());
  info.set("vocabularyOnly", !model.has_weights());
  info.set("architecture", model.has_weights() ? val(model.config().architecture) : val::null());
  info.set("contextLength",
           model.has_weights() ? Number(model.config().context_length) : val::null());
  info.set("shape", model.has_weights() ? Shape(model.config()) : val::null());
  info.set("parameters", Number(parameters));
  info.set("weightBytes", Number(bytes));
  info.set("tensors", Tensors(model));
  return info;
}

}  // namespace kvasir
