// The key-value metadata of a model file, typed. Large arrays (the tokens of a
// vocabulary) stay in the bytes they were read from: an array is a view.
#ifndef KVASIR_FORMAT_METADATA_H_
#define KVASIR_FORMAT_METADATA_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace kvasir {

// GGUF's numbers.
enum class ValueType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// An array value: `size` elements of one type, packed as in the file. Nested
// arrays are read past, not kept: their size is known, their elements are not.
class MetadataArray {
 public:
  ValueType element_type() const { return element_type_; }
  int64_t size() const { return size_; }

  // Element i in [0, size()). Int: any integer type or bool; Float: any number;
  // String: strings only. Another type gives 0 or "": check element_type first.
  int64_t Int(int64_t i) const;
  double Float(int64_t i) const;
  std::string_view String(int64_t i) const;

 private:
  friend class GgufHeaderParser;
  friend class MetadataBuilder;
  ValueType element_type_ = ValueType::kUint8;
  int64_t size_ = 0;
  const uint8_t* elements_ = nullptr;     // packed, little-endian, unaligned
  std::vector<uint32_t> string_offsets_;  // strings: where each one's length stands in elements_
};

using MetadataValue =
    std::variant<uint64_t, int64_t, double, bool, std::string_view, MetadataArray>;

class Metadata {
 public:
  // Values are views of bytes_: they survive a move, not a copy.
  Metadata() = default;
  Metadata(Metadata&&) = default;
  Metadata& operator=(Metadata&&) = default;

  bool Has(std::string_view key) const { return values_.contains(key); }
  const std::map<std::string_view, MetadataValue>& values() const { return values_; }

  // Where `key` stands in the file, in bytes; 0 when it is missing.
  uint64_t OffsetOf(std::string_view key) const;

  // The value of `key`; MALFORMED_FILE naming the key when it is missing, or
  // (with its offset) of another kind or (Int) beyond the range of int64_t.
  Result<int64_t> Int(std::string_view key) const;
  Result<double> Float(std::string_view key) const;  // an integer counts too
  Result<bool> Bool(std::string_view key) const;
  Result<std::string_view> String(std::string_view key) const;
  Result<const MetadataArray*> Array(std::string_view key, ValueType element_type) const;

  // The same with a default for a missing key; a present one must still be of
  // the right kind.
  Result<int64_t> IntOr(std::string_view key, int64_t fallback) const;
  Result<double> FloatOr(std::string_view key, double fallback) const;
  Result<bool> BoolOr(std::string_view key, bool fallback) const;
  Result<std::string_view> StringOr(std::string_view key, std::string_view fallback) const;
  // For what is only told to a person, or guessed from: empty where there is no string.
  std::string_view Text(std::string_view key) const;

 private:
  friend class GgufHeaderParser;
  friend class MetadataBuilder;
  std::vector<uint8_t> bytes_;  // the file's header; keys, strings and arrays view it
  std::map<std::string_view, MetadataValue> values_;
};

}  // namespace kvasir

#endif  // KVASIR_FORMAT_METADATA_H_
