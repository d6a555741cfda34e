// libFuzzer target: any bytes as a safetensors file, at once and in portions. Begin
// with tests/fuzz/corpus/safetensors: a file after one byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "format/safetensors_reader.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

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

struct Outcome {
  kvasir::Status status;
  uint64_t checksum;
};

Outcome Read(std::span<const uint8_t> file, size_t portion) {
  Taker taker;
  kvasir::SafetensorsReader reader("file", file.size(), taker);
  while (!file.empty()) {
    const size_t count = portion < file.size() ? portion : file.size();
    const std::vector<uint8_t> bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(count));
    if (kvasir::Status status = reader.Append(bytes); !status.ok()) return {status, 0};
    file = file.subspan(count);
  }
  return {kvasir::Status(), taker.checksum};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> file(data + 1, size - 1);
  const Outcome whole = Read(file, file.size() + 1);
  const Outcome parts = Read(file, size_t{1} + data[0]);
  Require(whole.status.code() == parts.status.code());
  Require(whole.status.message() == parts.status.message());
  Require(whole.checksum == parts.checksum);
  return 0;
}
