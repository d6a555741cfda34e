// Metadata that is put together from elsewhere than a GGUF file.
#ifndef KVASIR_FORMAT_METADATA_BUILDER_H_
#define KVASIR_FORMAT_METADATA_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "format/metadata.h"

namespace kvasir {

// A key that is set twice has the later value.
class MetadataBuilder {
 public:
  void Set(std::string key, int64_t value) { values_[std::move(key)] = value; }
  void Set(std::string key, double value) { values_[std::move(key)] = value; }
  void Set(std::string key, bool value) { values_[std::move(key)] = value; }
  void Set(std::string key, std::string value) { values_[std::move(key)] = std::move(value); }
  void Set(std::string key, std::vector<int32_t> value) {
    values_[std::move(key)] = std::move(value);
  }
  bool Has(const std::string& key) const { return values_.contains(key); }

  // Once.
  Metadata Build();

 private:
  using Value = std::variant<int64_t, double, bool, std::string, std::vector<int32_t>>;

  std::map<std::string, Value> values_;
};

}  // namespace kvasir

#endif  // KVASIR_FORMAT_METADATA_BUILDER_H_
