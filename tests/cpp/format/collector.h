// A sink for tests: keeps what it is given.
#ifndef KVASIR_TESTS_CPP_FORMAT_COLLECTOR_H_
#define KVASIR_TESTS_CPP_FORMAT_COLLECTOR_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "format/gguf_reader.h"

namespace kvasir {

class Collector : public TensorSink {
 public:
  Status OnMetadata(const Metadata&) override {
    ++metadata_calls;
    return Status();
  }
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo& info) override {
    order.push_back(info.name);
    infos[info.name] = info;
    if (info.name == skip) return std::span<uint8_t>();
    if (info.name == refuse) return OutOfMemory("refused");
    tensors[info.name].resize(info.bytes);
    return std::span<uint8_t>(tensors[info.name]);
  }
  Status EndTensor(const TensorInfo& info) override {
    ended.push_back(info.name);
    return Status();
  }

  std::vector<float> Floats(const std::string& name) const {
    const std::vector<uint8_t>& bytes = tensors.at(name);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  int metadata_calls = 0;
  std::string skip, refuse;  // names of tensors
  std::vector<std::string> order, ended;
  std::map<std::string, TensorInfo> infos;
  std::map<std::string, std::vector<uint8_t>> tensors;
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_FORMAT_COLLECTOR_H_
