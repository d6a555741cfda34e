#include "format/safetensors_header.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/checked_math.h"
#include "base/json.h"

namespace kvasir {
namespace {

constexpr size_t kMaxShown = 80;
constexpr std::string_view kNotes = "__metadata__";  // for people

struct DataType {
  std::string_view name;
  uint64_t bytes;  // of an element
};
constexpr DataType kDataTypes[] = {{"BOOL", 1},    {"U8", 1},      {"I8", 1},  {"F8_E4M3", 1},
                                   {"F8_E5M2", 1}, {"F8_E8M0", 1}, {"I16", 2}, {"U16", 2},
                                   {"F16", 2},     {"BF16", 2},    {"I32", 4}, {"U32", 4},
                                   {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};

Status Bad(std::string_view name, std::string_view what) {
  std::string shown(name.substr(0, kMaxShown));
  if (name.size() > kMaxShown) shown += "...";
  return MalformedFile("tensor " + shown + ": " + std::string(what));
}

std::optional<uint64_t> Offset(JsonValue value) {
  const std::optional<int64_t> offset = value.Int();
  if (!offset || *offset < 0) return std::nullopt;
  return static_cast<uint64_t>(*offset);
}

Status ReadShape(JsonValue value, SafetensorsTensor& tensor) {
  if (!value.IsArray()) return Bad(tensor.name, "it has no shape");
  for (JsonValue item : value.Items()) {
    const std::optional<int64_t> size = item.Int();
    if (!size || *size < 0) return Bad(tensor.name, "its shape is not made of whole numbers");
    tensor.shape.push_back(*size);
  }
  return Status();
}

// Of a type that is not known, the size is not known either.
Status CheckSize(const SafetensorsTensor& tensor) {
  const auto* type = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                  [&](const DataType& each) { return each.name == tensor.dtype; });
  if (type == std::end(kDataTypes)) return Status();
  std::optional<uint64_t> bytes = type->bytes;
  for (int64_t size : tensor.shape) {
    if (bytes) bytes = CheckedMul(*bytes, static_cast<uint64_t>(size));
  }
  if (bytes == tensor.bytes()) return Status();
  return Bad(tensor.name, "it has " + std::to_string(tensor.bytes()) +
                              " bytes, which are not those of its shape and type");
}

Result<SafetensorsTensor> ReadTensor(std::string_view name, JsonValue entry) {
  SafetensorsTensor tensor;
  tensor.name = name;
  const std::optional<std::string_view> dtype = entry["dtype"].String();
  if (!dtype) return Bad(name, "it has no dtype");
  tensor.dtype = *dtype;
  if (Status status = ReadShape(entry["shape"], tensor); !status.ok()) return status;
  const JsonValue offsets = entry["data_offsets"];
  if (!offsets.IsArray() || offsets.size() != 2) return Bad(name, "it has no data_offsets");
  auto offset = offsets.Items().begin();
  const std::optional<uint64_t> begin = Offset(*offset);
  const std::optional<uint64_t> end = Offset(*++offset);
  if (!begin || !end || *begin > *end) {
    return Bad(name, "its data_offsets are not two places, one after the other");
  }
  tensor.begin = *begin;
  tensor.end = *end;
  if (Status status = CheckSize(tensor); !status.ok()) return status;
  return tensor;
}

// Nothing between two tensors, nothing twice, nothing behind the last.
Status CheckPlacement(const std::vector<SafetensorsTensor>& tensors, uint64_t data_bytes) {
  uint64_t at = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    if (tensor.begin != at) {
      return Bad(tensor.name, "it begins at byte " + std::to_string(tensor.begin) +
                                  " of the data, where the one before ends at " +
                                  std::to_string(at));
    }
    at = tensor.end;
  }
  if (at == data_bytes) return Status();
  return MalformedFile("the tensors take " + std::to_string(at) + " bytes, the file has " +
                       std::to_string(data_bytes) + (at > data_bytes ? ": it is cut off" : ""));
}

}  // namespace

std::optional<TensorType> SafetensorsTensor::type() const {
  if (dtype == "F32") return TensorType::kF32;
  if (dtype == "F16") return TensorType::kF16;
  if (dtype == "BF16") return TensorType::kBF16;
  return std::nullopt;
}

Result<std::vector<SafetensorsTensor>> ParseSafetensorsHeader(std::string_view json,
                                                              uint64_t data_bytes) {
  const Result<JsonDocument> document = JsonDocument::Parse(json, "the header");
  if (!document.ok()) return document.status();
  if (!document->root().IsObject()) return MalformedFile("the header is not a JSON object");
  std::vector<SafetensorsTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (const auto& [name, entry] : document->root().Members()) {
    if (name == kNotes) continue;
    if (!names.insert(name).second) return Bad(name, "it is there twice");
    Result<SafetensorsTensor> tensor = ReadTensor(name, entry);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  if (Status status = CheckPlacement(tensors, data_bytes); !status.ok()) return status;
  return tensors;
}

}  // namespace kvasir
