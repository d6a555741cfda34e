// Hugging Face folders in memory, and how to read them.
#ifndef KVASIR_TESTS_CPP_RUNTIME_SAFETENSORS_FILES_H_
#define KVASIR_TESTS_CPP_RUNTIME_SAFETENSORS_FILES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/folder_reader.h"

namespace kvasir {

struct SafetensorsEntry {
  std::string name;
  std::vector<int64_t> shape;  // the fastest dimension last
  std::string dtype;
  std::string bytes;
};

// As a file has them, in their order.
inline std::string WriteSafetensors(const std::vector<SafetensorsEntry>& entries) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  for (const SafetensorsEntry& entry : entries) {
    std::string shape;
    for (int64_t size : entry.shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    header += ",\"" + entry.name + "\":{\"dtype\":\"" + entry.dtype + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data += entry.bytes;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  while (header.size() % 8 != 0) header += ' ';
  const uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

inline std::string FloatBytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

struct FolderFile {
  std::string name;
  std::string bytes;
};

inline std::vector<ModelFile> NamesAndSizes(const std::vector<FolderFile>& files) {
  std::vector<ModelFile> list;
  for (const FolderFile& file : files) list.push_back({file.name, file.bytes.size()});
  return list;
}

// To a FolderReader or a ModelLoader, `portion` bytes at a time.
template <class Reader>
Status AppendAll(Reader& reader, const std::vector<FolderFile>& files, size_t portion) {
  for (const FolderFile& file : files) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file.bytes.data()),
                                         file.bytes.size());
    for (size_t at = 0; at < bytes.size(); at += portion) {
      const std::span<const uint8_t> part = bytes.subspan(at, std::min(portion, bytes.size() - at));
      // A copy of its own, so that a read beyond the portion is noticed.
      const std::vector<uint8_t> copy(part.begin(), part.end());
      if (Status status = reader.Append(copy); !status.ok()) return status;
    }
  }
  return Status();
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_RUNTIME_SAFETENSORS_FILES_H_
