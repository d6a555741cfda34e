// The golden models that are described as GGUF files: their metadata, their
// tensors, and the tokens to run.
#ifndef KVASIR_TESTS_CPP_MODEL_GOLDEN_FILE_H_
#define KVASIR_TESTS_CPP_MODEL_GOLDEN_FILE_H_

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "../format/collector.h"
#include "../format/gguf_writer.h"
#include "format/gguf_reader.h"
#include "model/config.h"
#include "shared_models.h"

namespace kvasir {

struct GoldenKey {
  std::string name;
  std::string type;  // u32, f32, string
  std::string value;
};

struct GoldenFile {
  std::vector<GoldenKey> keys;
  std::vector<TensorInfo> tensors;  // F32
  std::vector<int32_t> tokens;
};

inline TensorInfo ReadTensor(std::istringstream& words) {
  TensorInfo info;
  words >> info.name;
  info.type = TensorType::kF32;
  info.shape = {1, 1, 1, 1};
  info.dimensions = 0;
  for (int64_t size; words >> size;) info.shape[static_cast<size_t>(info.dimensions++)] = size;
  info.bytes = static_cast<uint64_t>(info.elements()) * sizeof(float);
  return info;
}

inline GoldenFile ReadGoldenFile(const std::string& name) {
  GoldenFile file;
  std::istringstream lines(ReadGolden(name + ".txt").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "key") {
      GoldenKey key;
      words >> key.name >> key.type >> key.value;
      file.keys.push_back(key);
    } else if (kind == "tensor") {
      file.tensors.push_back(ReadTensor(words));
    } else if (kind == "tokens") {
      for (int32_t token; words >> token;) file.tokens.push_back(token);
    }
  }
  return file;
}

// The configuration that a file with these keys has.
inline Result<ModelConfig> ReadConfig(const std::vector<GoldenKey>& keys) {
  GgufWriter writer;
  for (const auto& [name, type, value] : keys) {
    if (type == "u32") {
      writer.Key<uint32_t>(name, ValueType::kUint32, static_cast<uint32_t>(std::stoul(value)));
    } else if (type == "f32") {
      writer.Key<float>(name, ValueType::kFloat32, std::stof(value));
    } else {
      writer.StringKey(name, value);
    }
  }
  const std::vector<uint8_t> bytes = writer.Write();
  Collector sink;
  GgufReader reader({bytes.size()}, sink);
  if (Status status = reader.Append(bytes); !status.ok()) return status;
  return ReadModelConfig(reader.metadata());
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_MODEL_GOLDEN_FILE_H_
