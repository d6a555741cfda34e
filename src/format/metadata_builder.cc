#include "format/metadata_builder.h"

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kvasir {
namespace {

size_t BytesOf(const std::string& text) { return text.size(); }
size_t BytesOf(const std::vector<int32_t>& array) { return array.size() * sizeof(int32_t); }
template <class T>
size_t BytesOf(const T&) {
  return 0;
}

}  // namespace

Metadata MetadataBuilder::Build() {
  size_t size = 0;
  for (const auto& [key, value] : values_) {
    size += key.size() + std::visit([](const auto& held) { return BytesOf(held); }, value);
  }
  Metadata metadata;
  metadata.bytes_.reserve(size);  // views of it stay valid
  const auto keep = [&](const void* data, size_t count) {
    const uint8_t* bytes = static_cast<const uint8_t*>(data);
    metadata.bytes_.insert(metadata.bytes_.end(), bytes, bytes + count);
    return metadata.bytes_.data() + metadata.bytes_.size() - count;
  };
  const auto keep_text = [&](const std::string& text) {
    const void* kept = keep(text.data(), text.size());
    return std::string_view(static_cast<const char*>(kept), text.size());
  };
  while (!values_.empty()) {
    const auto entry = values_.extract(values_.begin());
    MetadataValue& value = metadata.values_[keep_text(entry.key())];
    if (const auto* text = std::get_if<std::string>(&entry.mapped())) {
      value = keep_text(*text);
    } else if (const auto* array = std::get_if<std::vector<int32_t>>(&entry.mapped())) {
      MetadataArray view;
      view.element_type_ = ValueType::kInt32;
      view.size_ = static_cast<int64_t>(array->size());
      view.elements_ = keep(array->data(), BytesOf(*array));
      value = std::move(view);
    } else if (const auto* whole = std::get_if<int64_t>(&entry.mapped())) {
      value = *whole;
    } else if (const auto* number = std::get_if<double>(&entry.mapped())) {
      value = *number;
    } else {
      value = std::get<bool>(entry.mapped());
    }
  }
  return metadata;
}

}  // namespace kvasir
