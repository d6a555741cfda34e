// libFuzzer target: any bytes as a safetensors file, at once and in portions. Begin
// with tests/fuzz/corpus/safetensors: a file after one byte.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/safetensors_reader.h"
#include "in_portions.h"

namespace {

using kvasir::fuzz::AppendAll;
using kvasir::fuzz::Outcome;
using kvasir::fuzz::Require;

class Taker : public kvasir::SafetensorsSink {
 public:
  kvasir::Status OnHeader(const std::vector<kvasir::SafetensorsTensor>& tensors) override {
    uint64_t at = 0;
    for (const kvasir::SafetensorsTensor& tensor : tensors) {
      Require(tensor.begin == at && tensor.begin <= tensor.end);
      at = tensor.end;
    }
    return kvasir::Status();
  }
  kvasir::Status BeginTensor(const kvasir::SafetensorsTensor& tensor) override {
    left_ = tensor.bytes();
    return kvasir::Status();
  }
  kvasir::Status TensorBytes(std::span<const uint8_t> bytes) override {
    Require(bytes.size() <= left_);
    left_ -= bytes.size();
    for (uint8_t byte : bytes) checksum = checksum * 31 + byte;
    return kvasir::Status();
  }
  kvasir::Status EndTensor(const kvasir::SafetensorsTensor&) override {
    Require(left_ == 0);
    checksum = checksum * 31 + 7;
    return kvasir::Status();
  }

  uint64_t checksum = 0;

 private:
  uint64_t left_ = 0;
};

Outcome Read(std::span<const uint8_t> file, size_t portion) {
  Taker taker;
  kvasir::SafetensorsReader reader("file", file.size(), taker);
  const kvasir::Status status = AppendAll(reader, file, portion);
  return {status, status.ok() ? taker.checksum : 0};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return kvasir::fuzz::CompareWholeAndParts(data, size, Read);
}
