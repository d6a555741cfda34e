// libFuzzer target: any bytes as a GGUF file, at once and in portions. Build as
// in CMakeLists.txt, then for example
//   build/fuzz/tests/fuzz/gguf_fuzz -max_total_time=60 -rss_limit_mb=512 corpus/
// where corpus/ holds files to begin with: a GGUF file after one byte.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "format/gguf_reader.h"
#include "format/metadata.h"
#include "in_portions.h"

namespace {

using kvasir::fuzz::AppendAll;
using kvasir::fuzz::Outcome;
using kvasir::fuzz::Require;

// Reads all that a header offers, so that a view beyond it is noticed, and takes
// every tensor. Memory for a tensor larger than the file would be a bug.
class Reader : public kvasir::TensorSink {
 public:
  explicit Reader(size_t file_size) : file_size_(file_size) {}

  kvasir::Status OnMetadata(const kvasir::Metadata& metadata) override {
    for (const auto& [key, value] : metadata.values()) {
      Require(metadata.OffsetOf(key) < file_size_);
      if (const auto* text = std::get_if<std::string_view>(&value)) Touch(*text);
      if (const auto* array = std::get_if<kvasir::MetadataArray>(&value)) TouchAll(*array);
    }
    return kvasir::Status();
  }

  kvasir::Result<std::span<uint8_t>> BeginTensor(const kvasir::TensorInfo& info) override {
    Require(info.bytes > 0 && info.bytes <= file_size_);
    memory_.resize(info.bytes);
    return std::span<uint8_t>(memory_);
  }

  kvasir::Status EndTensor(const kvasir::TensorInfo&) override {
    for (uint8_t byte : memory_) checksum_ = checksum_ * 31 + byte;
    return kvasir::Status();
  }

  uint64_t checksum() const { return checksum_; }

 private:
  void Touch(std::string_view text) {
    for (char c : text) checksum_ = checksum_ * 31 + static_cast<uint8_t>(c);
  }
  void TouchAll(const kvasir::MetadataArray& array) {
    if (array.element_type() == kvasir::ValueType::kArray) return;
    for (int64_t i = 0; i < array.size(); ++i) {
      Touch(array.String(i));
      checksum_ = checksum_ * 31 + static_cast<uint64_t>(array.Int(i));
      checksum_ += array.Float(i) > 0 ? 1 : 0;
    }
  }

  size_t file_size_;
  std::vector<uint8_t> memory_;
  uint64_t checksum_ = 0;
};

Outcome Read(std::span<const uint8_t> file, size_t portion) {
  Reader sink(file.size());
  kvasir::GgufReader reader({file.size()}, sink);
  if (kvasir::Status status = AppendAll(reader, file, portion); !status.ok()) return {status, 0};
  return {reader.Finish(), sink.checksum()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return kvasir::fuzz::CompareWholeAndParts(data, size, Read);
}
