// Reads keys of a config.json and sets GGUF's; remembers the first error, so that
// a translation reads as a list. Internal to the reading of config.json.
#ifndef KVASIR_MODEL_TRANSLATED_CONFIG_H_
#define KVASIR_MODEL_TRANSLATED_CONFIG_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/status.h"
#include "format/metadata_builder.h"

namespace kvasir {

class TranslatedConfig {
 public:
  TranslatedConfig(JsonValue config, std::string_view architecture, MetadataBuilder& metadata)
      : config_(config), prefix_(std::string(architecture) + "."), metadata_(metadata) {}

  const Status& status() const { return status_; }

  JsonValue operator[](std::string_view key) const { return config_[key]; }
  bool Has(std::string_view key) const { return config_[key].Exists(); }

  // null counts as missing.
  double Number(std::string_view key, double fallback) { return Number(config_, key, fallback); }
  double Number(JsonValue object, std::string_view key, double fallback) {
    if (!object[key].Exists()) return fallback;
    if (const std::optional<double> number = object[key].Number()) return *number;
    Fail(MalformedFile("config.json: " + std::string(key) + " is not a number"));
    return fallback;
  }

  std::string_view Text(std::string_view key, std::string_view fallback) const {
    return config_[key].StringOr(fallback);
  }

  // `<architecture>.<key>`. A whole number is set as such.
  void Set(std::string_view key, double value) {
    constexpr double kLargest = 9007199254740992.0;  // 2^53
    if (value == std::floor(value) && std::abs(value) < kLargest) {
      metadata_.Set(prefix_ + std::string(key), static_cast<int64_t>(value));
    } else {
      metadata_.Set(prefix_ + std::string(key), value);
    }
  }
  void Set(std::string_view key, int64_t value) {
    metadata_.Set(prefix_ + std::string(key), value);
  }
  void SetText(std::string_view key, std::string value) {
    metadata_.Set(prefix_ + std::string(key), std::move(value));
  }
  bool IsSet(std::string_view key) const { return metadata_.Has(prefix_ + std::string(key)); }

  void Missing(std::string_view key) {
    Fail(MalformedFile("config.json: " + std::string(key) + " is missing"));
  }
  void Unsupported(std::string_view key, std::string_view value) {
    Fail(UnsupportedModel("config.json: " + std::string(key) + " as " + std::string(value) +
                          " is not supported by this build"));
  }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  JsonValue config_;
  std::string prefix_;
  MetadataBuilder& metadata_;
  Status status_;
};

}  // namespace kvasir

#endif  // KVASIR_MODEL_TRANSLATED_CONFIG_H_
