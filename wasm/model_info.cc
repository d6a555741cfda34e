#include "wasm/model_info.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/session.h"

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

val EndTokens(const Tokenizer& tokenizer) {
  val list = val::array();
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    if (!tokenizer.IsEndOfGeneration(id)) continue;
    val entry = val::object();
    entry.set("id", id);
    entry.set("text", tokenizer.Decode(std::vector<TokenId>{id}, true));
    list.call<void>("push", std::move(entry));
  }
  return list;
}

val KvCacheBytes(const ModelConfig& config) {
  val bytes = val::object();
  for (const KvType type : {KvType::kF32, KvType::kF16, KvType::kI8}) {
    bytes.set(std::string(KvTypeName(type)), Number(KvCacheBytesPerToken(config, type)));
  }
  return bytes;
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
  const bool padded = model.has_config() && model.config().vocab_size > 0;
  info.set("vocabularySize", Number(padded ? model.config().vocab_size : tokenizer.vocab_size()));
  info.set("vocabulary", TextOrNull(model.description().vocabulary));
  info.set("bosToken", TokenOrNull(tokenizer.bos()));
  info.set("eosToken", TokenOrNull(tokenizer.eos()));
  info.set("addsBos", tokenizer.adds_bos());
  info.set("endTokens", EndTokens(tokenizer));
  const bool has_tensors = !model.type_use().empty();
  info.set("vocabularyOnly", !has_tensors);
  info.set("architecture",
           has_tensors ? TextOrNull(model.description().architecture) : val::null());
  const bool has_shape = has_tensors && model.has_config();
  info.set("contextLength", has_shape ? Number(model.config().context_length) : val::null());
  info.set("shape", has_shape ? Shape(model.config()) : val::null());
  info.set("kvCacheBytesPerToken", has_shape ? KvCacheBytes(model.config()) : val::null());
  info.set("problem", has_tensors ? TextOrNull(model.problem().message()) : val::null());
  info.set("parameters", Number(parameters));
  info.set("weightBytes", Number(bytes));
  info.set("tensors", Tensors(model));
  return info;
}

}  // namespace kvasir
