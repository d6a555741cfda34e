#include "format/gguf_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/checked_math.h"

namespace kvasir {
namespace {

constexpr uint32_t kMagic = 0x46554747;     // "GGUF"
constexpr uint64_t kLeastKeyBytes = 13;     // empty key, type, one byte
constexpr uint64_t kLeastTensorBytes = 32;  // empty name, one dimension
constexpr int kDeepestNesting = 8;
// Far beyond any model. They bound what a hostile header costs: an entry takes
// more memory than bytes in the file.
constexpr uint64_t kMostKeys = uint64_t{1} << 16;
constexpr uint64_t kMostTensors = uint64_t{1} << 16;
constexpr uint64_t kLargestHeader = uint64_t{1} << 28;
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kLargestAlignment = uint64_t{1} << 20;

// 0 for strings, arrays and unknown types.
uint64_t ScalarBytes(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
    case ValueType::kInt8:
    case ValueType::kBool:
      return 1;
    case ValueType::kUint16:
    case ValueType::kInt16:
      return 2;
    case ValueType::kUint32:
    case ValueType::kInt32:
    case ValueType::kFloat32:
      return 4;
    case ValueType::kUint64:
    case ValueType::kInt64:
    case ValueType::kFloat64:
      return 8;
    case ValueType::kString:
    case ValueType::kArray:
      return 0;
  }
  return 0;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string quoted = "\"";
  for (char c : text.substr(0, kLongest)) {
    quoted += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return quoted + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace

bool GgufHeaderParser::Parse() { return ParsePrologue() && ParseMetadata() && ParseTensors(); }

bool GgufHeaderParser::ParsePrologue() {
  uint32_t magic, version;
  if (!Read(magic)) return false;
  if (magic != kMagic) return FailAt(0, "this is not a GGUF file: it does not begin with \"GGUF\"");
  if (!Read(version)) return false;
  if (version != 2 && version != 3) {
    const bool swapped = version != 0 && (version & 0xffff) == 0;
    status_ = UnsupportedModel(
        swapped ? "big-endian GGUF files are not supported; convert the file to little-endian"
                : "GGUF version " + std::to_string(version) + " is not supported, only 2 and 3");
    return false;
  }
  if (!Read(tensor_count_) || !Read(key_count_)) return false;
  const uint64_t rest = file_size_ - offset_;
  if (tensor_count_ > std::min(rest / kLeastTensorBytes, kMostTensors)) {
    return Fail(std::to_string(tensor_count_) + " tensors do not fit in the file");
  }
  if (key_count_ > std::min(rest / kLeastKeyBytes, kMostKeys)) {
    return Fail(std::to_string(key_count_) + " keys do not fit in the file");
  }
  return true;
}

bool GgufHeaderParser::ParseMetadata() {
  for (uint64_t i = 0; i < key_count_; ++i) {
    what_ = "key number " + std::to_string(i);
    std::string_view key;
    uint32_t type;
    if (!ReadString(key)) return false;
    what_ = "key " + Quoted(key);
    if (header_.metadata.Has(key)) return Fail("it appears twice");
    if (!Read(type)) return false;
    MetadataValue value;
    if (!ParseValue(static_cast<ValueType>(type), value)) return false;
    header_.metadata.values_.emplace(key, std::move(value));
  }
  return true;
}

bool GgufHeaderParser::ParseValue(ValueType type, MetadataValue& value) {
  const auto read = [&]<class Stored, class Kept>(Stored stored, std::type_identity<Kept>) {
    if (!Read(stored)) return false;
    value = static_cast<Kept>(stored);
    return true;
  };
  switch (type) {
    case ValueType::kUint8:
      return read(uint8_t{}, std::type_identity<uint64_t>());
    case ValueType::kInt8:
      return read(int8_t{}, std::type_identity<int64_t>());
    case ValueType::kUint16:
      return read(uint16_t{}, std::type_identity<uint64_t>());
    case ValueType::kInt16:
      return read(int16_t{}, std::type_identity<int64_t>());
    case ValueType::kUint32:
      return read(uint32_t{}, std::type_identity<uint64_t>());
    case ValueType::kInt32:
      return read(int32_t{}, std::type_identity<int64_t>());
    case ValueType::kUint64:
      return read(uint64_t{}, std::type_identity<uint64_t>());
    case ValueType::kInt64:
      return read(int64_t{}, std::type_identity<int64_t>());
    case ValueType::kFloat32:
      return read(float{}, std::type_identity<double>());
    case ValueType::kFloat64:
      return read(double{}, std::type_identity<double>());
    case ValueType::kBool: {
      uint8_t stored;
      if (!Read(stored)) return false;
      if (stored > 1) return Fail("a bool must be 0 or 1, is " + std::to_string(stored));
      value = stored == 1;
      return true;
    }
    case ValueType::kString: {
      std::string_view text;
      if (!ReadString(text)) return false;
      value = text;
      return true;
    }
    case ValueType::kArray: {
      MetadataArray array;
      if (!ParseArray(array)) return false;
      value = std::move(array);
      return true;
    }
  }
  return Fail("unknown value type " + std::to_string(static_cast<uint32_t>(type)));
}

bool GgufHeaderParser::ParseArray(MetadataArray& array) {
  uint32_t type;
  uint64_t count;
  if (!Read(type) || !Read(count)) return false;
  array.element_type_ = static_cast<ValueType>(type);
  array.elements_ = bytes_.data() + offset_;
  if (array.element_type_ == ValueType::kArray) {
    for (uint64_t i = 0; i < count; ++i) {
      if (!SkipNestedArray(1)) return false;
    }
  } else if (array.element_type_ == ValueType::kString) {
    if (count > (file_size_ - offset_) / sizeof(uint64_t)) {
      return Fail(std::to_string(count) + " strings do not fit in the file");
    }
    const uint64_t begin = offset_;
    // What came, not what the count claims, bounds the table.
    const uint64_t at_most = (bytes_.size() - offset_) / sizeof(uint64_t);
    array.string_offsets_.reserve(static_cast<size_t>(std::min(count, at_most)));
    for (uint64_t i = 0; i < count; ++i) {
      array.string_offsets_.push_back(static_cast<uint32_t>(offset_ - begin));
      std::string_view text;
      if (!ReadString(text)) return false;
    }
  } else if (!ReadScalars(array.element_type_, count)) {
    return false;
  }
  array.size_ = static_cast<int64_t>(count);
  return true;
}

bool GgufHeaderParser::SkipNestedArray(int depth) {
  if (depth > kDeepestNesting) return Fail("arrays are nested too deep");
  uint32_t type;
  uint64_t count;
  if (!Read(type) || !Read(count)) return false;
  const ValueType element_type = static_cast<ValueType>(type);
  if (element_type != ValueType::kString && element_type != ValueType::kArray) {
    return ReadScalars(element_type, count);
  }
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view text;
    const bool read =
        element_type == ValueType::kString ? ReadString(text) : SkipNestedArray(depth + 1);
    if (!read) return false;
  }
  return true;
}

bool GgufHeaderParser::ReadScalars(ValueType type, uint64_t count) {
  const uint64_t size = ScalarBytes(type);
  if (size == 0) {
    return Fail("unknown array type " + std::to_string(static_cast<uint32_t>(type)));
  }
  if (count > (file_size_ - offset_) / size) {
    return Fail("an array of " + std::to_string(count) + " elements does not fit in the file");
  }
  if (!Need(count * size)) return false;
  if (type == ValueType::kBool) {
    const auto values = bytes_.subspan(offset_, count);
    if (std::any_of(values.begin(), values.end(), [](uint8_t b) { return b > 1; })) {
      return Fail("a bool must be 0 or 1");
    }
  }
  offset_ += count * size;
  return true;
}

bool GgufHeaderParser::ParseTensors() {
  const uint64_t at_most = (bytes_.size() - offset_) / kLeastTensorBytes;
  header_.tensors.reserve(static_cast<size_t>(std::min(tensor_count_, at_most)));
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    what_ = "tensor number " + std::to_string(i);
    TensorInfo info;
    info.entry_offset = offset_;
    if (!ParseTensor(info)) return false;
    header_.tensors.push_back(std::move(info));
  }
  uint64_t alignment = kDefaultAlignment;
  return ReadAlignment(alignment) && CheckDuplicateNames() && CheckPlacement(alignment);
}

bool GgufHeaderParser::ReadAlignment(uint64_t& alignment) {
  constexpr std::string_view kKey = "general.alignment";
  const auto entry = header_.metadata.values_.find(kKey);
  if (entry == header_.metadata.values_.end()) return true;
  const Result<int64_t> value = header_.metadata.Int(kKey);
  if (!value.ok() || *value < 1 || static_cast<uint64_t>(*value) > kLargestAlignment ||
      !std::has_single_bit(static_cast<uint64_t>(*value))) {
    what_ = "key " + Quoted(kKey);
    return FailAt(static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(entry->first.data()) -
                                        bytes_.data()),
                  "it must be a power of two of at most " + std::to_string(kLargestAlignment));
  }
  alignment = static_cast<uint64_t>(*value);
  return true;
}

bool GgufHeaderParser::ParseTensor(TensorInfo& info) {
  std::string_view name;
  if (!ReadString(name)) return false;
  what_ = "tensor " + Quoted(name);
  if (name.empty()) return Fail("it has no name");
  info.name = name;
  if (!ParseShape(info)) return false;

  uint32_t type;
  if (!Read(type)) return false;
  info.type = static_cast<TensorType>(type);
  const std::optional<TensorTypeTraits> traits = FindTensorTypeTraits(info.type);
  if (!traits) {
    status_ = UnsupportedModel(what_ + " has the type number " + std::to_string(type) +
                               ", which this build does not read. It reads " + TensorTypeNames() +
                               ": quantize the model to one of these");
    return false;
  }
  if (info.shape[0] % traits->block_elements != 0) {
    return Fail("rows of " + std::to_string(info.shape[0]) + " elements are not whole " +
                std::string(traits->name) + " blocks");
  }
  const std::optional<int64_t> bytes =
      CheckedMul(info.elements() / traits->block_elements, traits->block_bytes);
  if (!bytes || static_cast<uint64_t>(*bytes) > file_size_) {
    return Fail("it is larger than the file");
  }
  info.bytes = static_cast<uint64_t>(*bytes);
  return Read(info.offset);
}

bool GgufHeaderParser::ParseShape(TensorInfo& info) {
  uint32_t dimensions;
  if (!Read(dimensions)) return false;
  if (dimensions < 1 || dimensions > 4) {
    return Fail("it has " + std::to_string(dimensions) + " dimensions instead of 1 to 4");
  }
  info.dimensions = static_cast<int>(dimensions);
  info.shape = {1, 1, 1, 1};
  std::optional<int64_t> elements = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    if (!Read(info.shape[d])) return false;
    if (info.shape[d] < 1) return Fail("dimension " + std::to_string(d) + " is not above 0");
    elements = CheckedMul(*elements, info.shape[d]);
    if (!elements) return Fail("its shape overflows");
  }
  return true;
}

bool GgufHeaderParser::CheckDuplicateNames() {
  std::vector<const TensorInfo*> tensors;
  tensors.reserve(header_.tensors.size());
  for (const TensorInfo& info : header_.tensors) tensors.push_back(&info);
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::tie(a->name, a->entry_offset) < std::tie(b->name, b->entry_offset);
  });
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(),
                         [](const TensorInfo* a, const auto* b) { return a->name == b->name; });
  if (twice == tensors.end()) return true;
  const TensorInfo& second = **std::next(twice);
  what_ = "tensor " + Quoted(second.name);
  return FailAt(second.entry_offset, "it appears twice");
}

bool GgufHeaderParser::CheckPlacement(uint64_t alignment) {
  header_.data_offset = (offset_ + alignment - 1) / alignment * alignment;
  std::vector<TensorInfo>& tensors = header_.tensors;
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.offset < b.offset; });
  uint64_t end_of_last = 0;
  for (const TensorInfo& info : tensors) {
    what_ = "tensor " + Quoted(info.name);
    if (info.offset % alignment != 0) {
      return FailAt(info.entry_offset, "its offset " + std::to_string(info.offset) +
                                           " is not a multiple of " + std::to_string(alignment));
    }
    if (info.offset < end_of_last) {
      return FailAt(info.entry_offset, "it overlaps another tensor");
    }
    const std::optional<uint64_t> end = CheckedAdd(info.offset, info.bytes);
    const std::optional<uint64_t> file_end = end ? CheckedAdd(*end, header_.data_offset) : end;
    if (!file_end || *file_end > file_size_) {
      return FailAt(info.entry_offset, "it lies beyond the end of the file (" +
                                           std::to_string(file_size_) +
                                           " bytes): the file is incomplete");
    }
    end_of_last = *end;
  }
  return true;
}

bool GgufHeaderParser::Need(uint64_t count) {
  if (count > file_size_ - offset_) return Fail("the file ends in the middle of it");
  if (count > kLargestHeader - offset_) {
    return Fail("the header is larger than " + std::to_string(kLargestHeader >> 20) + " MiB");
  }
  return count <= bytes_.size() - offset_;
}

template <class T>
bool GgufHeaderParser::Read(T& value) {
  if (!Need(sizeof(T))) return false;
  std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
  offset_ += sizeof(T);
  return true;
}

bool GgufHeaderParser::ReadString(std::string_view& text) {
  uint64_t length;
  if (!Read(length)) return false;
  if (length > file_size_ - offset_) {
    return Fail("a text of " + std::to_string(length) + " bytes does not fit in the file");
  }
  if (!Need(length)) return false;
  text = {reinterpret_cast<const char*>(bytes_.data() + offset_), static_cast<size_t>(length)};
  offset_ += length;
  return true;
}

bool GgufHeaderParser::Fail(const std::string& message) { return FailAt(offset_, message); }

bool GgufHeaderParser::FailAt(uint64_t offset, const std::string& message) {
  status_ = MalformedFile(what_ + " (at byte " + std::to_string(offset) + "): " + message);
  return false;
}

}  // namespace kvasir
