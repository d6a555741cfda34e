// JSON texts, read through yyjson.
#ifndef KVASIR_BASE_JSON_H_
#define KVASIR_BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"

struct yyjson_doc;
struct yyjson_val;

namespace kvasir {

class JsonItems;
class JsonMembers;

// A view of a value in a document. What is asked for and not there, or of
// another type, is empty: a reader checks what it cannot do without.
class JsonValue {
 public:
  JsonValue() = default;
  explicit JsonValue(yyjson_val* value) : value_(value) {}

  bool Exists() const;  // and is not null
  bool IsString() const;
  bool IsArray() const;
  bool IsObject() const;

  std::optional<std::string_view> String() const;  // UTF-8
  std::string_view StringOr(std::string_view fallback) const;
  std::optional<double> Number() const;
  std::optional<int64_t> Int() const;  // 2.0 counts
  std::optional<bool> Bool() const;
  bool BoolOr(bool fallback) const;

  size_t size() const;                               // of an array or object, else 0
  JsonValue operator[](std::string_view key) const;  // of equal keys the first
  JsonItems Items() const;                           // of an array, to loop over
  JsonMembers Members() const;                       // of an object: pairs of a key and a value

 private:
  yyjson_val* value_ = nullptr;
};

class JsonItems {
 public:
  class Iterator {
   public:
    Iterator(yyjson_val* at, size_t left) : at_(at), left_(left) {}
    JsonValue operator*() const { return JsonValue(at_); }
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    yyjson_val* at_;
    size_t left_;
  };

  explicit JsonItems(yyjson_val* array);
  Iterator begin() const { return {first_, count_}; }
  Iterator end() const { return {nullptr, 0}; }

 private:
  yyjson_val* first_ = nullptr;
  size_t count_ = 0;
};

class JsonMembers {
 public:
  class Iterator {
   public:
    Iterator(yyjson_val* key, size_t left) : key_(key), left_(left) {}
    std::pair<std::string_view, JsonValue> operator*() const;
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    yyjson_val* key_;
    size_t left_;
  };

  explicit JsonMembers(yyjson_val* object);
  Iterator begin() const { return {first_, count_}; }
  Iterator end() const { return {nullptr, 0}; }

 private:
  yyjson_val* first_ = nullptr;
  size_t count_ = 0;
};

class JsonDocument {
 public:
  // MALFORMED_FILE, saying what is wrong with `name` at which byte.
  static Result<JsonDocument> Parse(std::string_view text, std::string_view name);

  JsonValue root() const;

 private:
  struct Free {
    void operator()(yyjson_doc* document) const;
  };
  explicit JsonDocument(yyjson_doc* document) : document_(document) {}

  std::unique_ptr<yyjson_doc, Free> document_;
};

}  // namespace kvasir

#endif  // KVASIR_BASE_JSON_H_
