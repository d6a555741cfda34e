#include "base/json.h"

#include <yyjson.h>

#include <cmath>
#include <string>

namespace kvasir {

bool JsonValue::Exists() const { return value_ != nullptr && !yyjson_is_null(value_); }
bool JsonValue::IsString() const { return yyjson_is_str(value_); }
bool JsonValue::IsArray() const { return yyjson_is_arr(value_); }
bool JsonValue::IsObject() const { return yyjson_is_obj(value_); }

std::optional<std::string_view> JsonValue::String() const {
  if (!IsString()) return std::nullopt;
  return std::string_view(yyjson_get_str(value_), yyjson_get_len(value_));
}

std::string_view JsonValue::StringOr(std::string_view fallback) const {
  return String().value_or(fallback);
}

std::optional<double> JsonValue::Number() const {
  if (!yyjson_is_num(value_)) return std::nullopt;
  return yyjson_get_num(value_);
}

std::optional<int64_t> JsonValue::Int() const {
  constexpr double kLargest = 9007199254740992.0;  // 2^53: doubles are exact up to it
  const std::optional<double> number = Number();
  if (!number || std::abs(*number) > kLargest || *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

std::optional<bool> JsonValue::Bool() const {
  if (!yyjson_is_bool(value_)) return std::nullopt;
  return yyjson_get_bool(value_);
}

bool JsonValue::BoolOr(bool fallback) const { return Bool().value_or(fallback); }

size_t JsonValue::size() const {
  return IsArray() ? yyjson_arr_size(value_) : yyjson_obj_size(value_);
}

JsonValue JsonValue::operator[](std::string_view key) const {
  return JsonValue(yyjson_obj_getn(value_, key.data(), key.size()));
}

JsonItems JsonValue::Items() const { return JsonItems(value_); }
JsonMembers JsonValue::Members() const { return JsonMembers(value_); }

JsonItems::JsonItems(yyjson_val* array)
    : first_(yyjson_arr_get_first(array)), count_(yyjson_arr_size(array)) {}

JsonItems::Iterator& JsonItems::Iterator::operator++() {
  at_ = --left_ > 0 ? unsafe_yyjson_get_next(at_) : nullptr;
  return *this;
}

JsonMembers::JsonMembers(yyjson_val* object) : count_(yyjson_obj_size(object)) {
  if (count_ > 0) first_ = unsafe_yyjson_get_first(object);
}

JsonMembers::Iterator& JsonMembers::Iterator::operator++() {
  key_ = --left_ > 0 ? unsafe_yyjson_get_next(key_ + 1) : nullptr;
  return *this;
}

std::pair<std::string_view, JsonValue> JsonMembers::Iterator::operator*() const {
  return {std::string_view(yyjson_get_str(key_), yyjson_get_len(key_)), JsonValue(key_ + 1)};
}

void JsonDocument::Free::operator()(yyjson_doc* document) const { yyjson_doc_free(document); }

Result<JsonDocument> JsonDocument::Parse(std::string_view text, std::string_view name) {
  yyjson_read_err error = {};
  // Without YYJSON_READ_INSITU it does not write to the text.
  yyjson_doc* document =
      yyjson_read_opts(const_cast<char*>(text.data()), text.size(), 0, nullptr, &error);
  if (document != nullptr) return JsonDocument(document);
  if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
    return OutOfMemory(std::string(name) + " does not fit into memory");
  }
  return MalformedFile(std::string(name) + " is not JSON: " + error.msg + " at byte " +
                       std::to_string(error.pos));
}

JsonValue JsonDocument::root() const { return JsonValue(yyjson_doc_get_root(document_.get())); }

}  // namespace kvasir
