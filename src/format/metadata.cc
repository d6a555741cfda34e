#include "format/metadata.h"

#include <cassert>
#include <cstring>
#include <limits>

namespace kvasir {
namespace {

template <class T>
T ReadAt(const uint8_t* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

Status WrongKind(const Metadata& metadata, std::string_view key, std::string_view wanted) {
  return MalformedFile("key " + std::string(key) + " (at byte " +
                       std::to_string(metadata.OffsetOf(key)) + ") must be " + std::string(wanted));
}

Status Missing(std::string_view key) {
  return MalformedFile("key " + std::string(key) + " is missing");
}

}  // namespace

int64_t MetadataArray::Int(int64_t i) const {
  assert(i >= 0 && i < size_);
  switch (element_type_) {
    case ValueType::kUint8:
    case ValueType::kBool:
      return ReadAt<uint8_t>(elements_, i);
    case ValueType::kInt8:
      return ReadAt<int8_t>(elements_, i);
    case ValueType::kUint16:
      return ReadAt<uint16_t>(elements_, i);
    case ValueType::kInt16:
      return ReadAt<int16_t>(elements_, i);
    case ValueType::kUint32:
      return ReadAt<uint32_t>(elements_, i);
    case ValueType::kInt32:
      return ReadAt<int32_t>(elements_, i);
    case ValueType::kUint64:
      return static_cast<int64_t>(ReadAt<uint64_t>(elements_, i));
    case ValueType::kInt64:
      return ReadAt<int64_t>(elements_, i);
    default:
      return 0;
  }
}

double MetadataArray::Float(int64_t i) const {
  assert(i >= 0 && i < size_);
  if (element_type_ == ValueType::kFloat32) return ReadAt<float>(elements_, i);
  if (element_type_ == ValueType::kFloat64) return ReadAt<double>(elements_, i);
  if (element_type_ == ValueType::kUint64) {
    return static_cast<double>(ReadAt<uint64_t>(elements_, i));
  }
  return static_cast<double>(Int(i));
}

std::string_view MetadataArray::String(int64_t i) const {
  assert(i >= 0 && i < size_);
  if (element_type_ != ValueType::kString) return {};
  const uint8_t* entry = elements_ + string_offsets_[static_cast<size_t>(i)];
  const uint64_t length = ReadAt<uint64_t>(entry, 0);
  return {reinterpret_cast<const char*>(entry + sizeof(length)), static_cast<size_t>(length)};
}

uint64_t Metadata::OffsetOf(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end() || bytes_.empty()) return 0;
  return static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(entry->first.data()) -
                               bytes_.data());
}

Result<int64_t> Metadata::Int(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return Missing(key);
  if (const int64_t* value = std::get_if<int64_t>(&entry->second)) return *value;
  if (const uint64_t* value = std::get_if<uint64_t>(&entry->second)) {
    if (*value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return static_cast<int64_t>(*value);
    }
  }
  return WrongKind(*this, key, "a whole number of at most 63 bits");
}

Result<double> Metadata::Float(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return Missing(key);
  if (const double* value = std::get_if<double>(&entry->second)) return *value;
  const Result<int64_t> whole = Int(key);
  if (!whole.ok()) return WrongKind(*this, key, "a number");
  return static_cast<double>(*whole);
}

Result<bool> Metadata::Bool(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return Missing(key);
  if (const bool* value = std::get_if<bool>(&entry->second)) return *value;
  return WrongKind(*this, key, "true or false");
}

Result<std::string_view> Metadata::String(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return Missing(key);
  if (const std::string_view* value = std::get_if<std::string_view>(&entry->second)) return *value;
  return WrongKind(*this, key, "a string");
}

Result<const MetadataArray*> Metadata::Array(std::string_view key, ValueType element_type) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return Missing(key);
  const MetadataArray* value = std::get_if<MetadataArray>(&entry->second);
  if (value == nullptr || value->element_type() != element_type) {
    return WrongKind(*this, key,
                     "an array of type " + std::to_string(static_cast<uint32_t>(element_type)));
  }
  return value;
}

Result<int64_t> Metadata::IntOr(std::string_view key, int64_t fallback) const {
  if (!Has(key)) return fallback;
  return Int(key);
}

Result<double> Metadata::FloatOr(std::string_view key, double fallback) const {
  if (!Has(key)) return fallback;
  return Float(key);
}

Result<bool> Metadata::BoolOr(std::string_view key, bool fallback) const {
  if (!Has(key)) return fallback;
  return Bool(key);
}

std::string_view Metadata::Text(std::string_view key) const {
  const Result<std::string_view> text = StringOr(key, "");
  return text.ok() ? *text : std::string_view();
}

Result<std::string_view> Metadata::StringOr(std::string_view key, std::string_view fallback) const {
  if (!Has(key)) return fallback;
  return String(key);
}

}  // namespace kvasir
