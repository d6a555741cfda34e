#include "runtime/folder_metadata.h"

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "format/metadata_builder.h"

namespace kvasir {
namespace {

constexpr std::string_view kTemplates = "additional_chat_templates/";
constexpr std::string_view kTemplateKey = "tokenizer.chat_template";
constexpr std::string_view kDefaultTemplate = "default";

using Texts = std::map<std::string, std::string>;

// The document of a file; without one a document of null.
Result<JsonDocument> Document(const Texts& texts, const std::string& name) {
  const auto text = texts.find(name);
  return JsonDocument::Parse(text == texts.end() ? "null" : text->second, name);
}

void SetTemplate(MetadataBuilder& metadata, std::string_view name, std::string_view text) {
  std::string key(kTemplateKey);
  if (name != kDefaultTemplate) key += "." + std::string(name);
  metadata.Set(std::move(key), std::string(text));
}

// One text, or a list of them with names.
void SetTemplates(MetadataBuilder& metadata, JsonValue templates) {
  if (const auto text = templates.String()) SetTemplate(metadata, kDefaultTemplate, *text);
  for (JsonValue item : templates.Items()) {
    const auto name = item["name"].String(), text = item["template"].String();
    if (name && text) SetTemplate(metadata, *name, *text);
  }
}

void SetTemplateFiles(MetadataBuilder& metadata, const Texts& texts) {
  constexpr std::string_view kEnd = ".jinja";
  for (const auto& [file, text] : texts) {
    std::string_view name = file;
    if (name == "chat_template.jinja") SetTemplate(metadata, kDefaultTemplate, text);
    if (!name.starts_with(kTemplates) || !name.ends_with(kEnd)) continue;
    name.remove_prefix(kTemplates.size());
    name.remove_suffix(kEnd.size());
    SetTemplate(metadata, name, text);
  }
}

// The spelling of a token that is given as text or as an object.
void SetToken(MetadataBuilder& metadata, const std::string& name, JsonValue token) {
  const std::string_view text = token.StringOr(token["content"].StringOr(""));
  if (!text.empty()) metadata.Set("tokenizer.huggingface." + name, std::string(text));
}

// One id, or a list.
std::vector<int32_t> Ids(JsonValue value) {
  std::vector<int32_t> ids;
  const auto add = [&](JsonValue item) {
    const std::optional<int64_t> id = item.Int();
    if (id && *id >= 0 && *id <= std::numeric_limits<int32_t>::max()) {
      ids.push_back(static_cast<int32_t>(*id));
    }
  };
  add(value);
  for (JsonValue item : value.Items()) add(item);
  return ids;
}

void SetIds(MetadataBuilder& metadata, JsonValue config) {
  std::vector<int32_t> eos = Ids(config["eos_token_id"]);
  if (!eos.empty()) metadata.Set("tokenizer.ggml.eos_token_ids", std::move(eos));
  const std::vector<int32_t> bos = Ids(config["bos_token_id"]);
  if (!bos.empty()) metadata.Set("tokenizer.ggml.bos_token_id", int64_t{bos[0]});
}

void SetSampling(MetadataBuilder& metadata, JsonValue config) {
  constexpr std::pair<std::string_view, const char*> kKeys[] = {
      {"temperature", "general.sampling.temp"},
      {"top_k", "general.sampling.top_k"},
      {"top_p", "general.sampling.top_p"},
      {"min_p", "general.sampling.min_p"},
      {"repetition_penalty", "general.sampling.penalty_repeat"},
  };
  for (const auto& [from, to] : kKeys) {
    if (const auto number = config[from].Number()) metadata.Set(to, *number);
  }
}

void SetTokenizerConfig(MetadataBuilder& metadata, JsonValue config) {
  for (const char* name : {"bos_token", "eos_token"}) SetToken(metadata, name, config[name]);
  for (const std::string key : {"add_bos_token", "add_eos_token"}) {
    if (const auto value = config[key].Bool()) metadata.Set("tokenizer.ggml." + key, *value);
  }
  SetTemplates(metadata, config["chat_template"]);
}

void SetVocabulary(MetadataBuilder& metadata, Texts& texts) {
  for (const std::string kind : {"json", "model"}) {
    const auto text = texts.find("tokenizer." + kind);
    if (text == texts.end()) continue;
    metadata.Set("tokenizer.huggingface." + kind, std::move(text->second));
    return;
  }
}

}  // namespace

Result<FolderMetadata> ReadFolderMetadata(Texts& texts) {
  MetadataBuilder metadata;
  FolderMetadata folder;
  const Result<JsonDocument> config = Document(texts, "config.json");
  if (!config.ok()) return config.status();
  if (texts.contains("config.json")) {
    Result<HuggingFaceModel> model = TranslateConfig(config->root(), metadata);
    if (!model.ok()) return model.status();
    folder.model = *std::move(model);
  }
  SetIds(metadata, config->root()["text_config"]);
  SetIds(metadata, config->root());

  // Of what several files say, the last one here counts.
  const std::pair<const char*, void (*)(MetadataBuilder&, JsonValue)> files[] = {
      {"generation_config.json", SetIds},
      {"generation_config.json", SetSampling},
      {"special_tokens_map.json", SetTokenizerConfig},
      {"tokenizer_config.json", SetTokenizerConfig},
      {"chat_template.json", SetTokenizerConfig},
  };
  for (const auto& [name, set] : files) {
    const Result<JsonDocument> document = Document(texts, name);
    if (!document.ok()) return document.status();
    set(metadata, document->root());
  }
  SetTemplateFiles(metadata, texts);
  SetVocabulary(metadata, texts);
  folder.metadata = metadata.Build();
  return folder;
}

}  // namespace kvasir
