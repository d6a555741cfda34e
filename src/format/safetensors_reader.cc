#include "format/safetensors_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kvasir {
namespace {

constexpr uint64_t kLengthBytes = 8;
// What the format allows.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

}  // namespace

SafetensorsReader::SafetensorsReader(std::string file_name, uint64_t file_size,
                                     SafetensorsSink& sink)
    : file_name_(std::move(file_name)), file_size_(file_size), sink_(sink) {
  if (file_size < kLengthBytes) {
    status_ = MalformedFile(file_name_ + " is too short for a safetensors file");
  }
}

Status SafetensorsReader::InFile(const Status& status) const {
  return Status(status.code(), file_name_ + ": " + status.message());
}

Status SafetensorsReader::Append(std::span<const uint8_t> bytes) {
  if (status_.ok()) status_ = Take(bytes);
  return status_;
}

Status SafetensorsReader::Take(std::span<const uint8_t> bytes) {
  if (bytes.size() > file_size_ - offset_) {
    return InvalidArgument(file_name_ + ": more bytes came than it has");
  }
  while (!bytes.empty() && data_offset_ == 0) {
    const Result<size_t> taken = TakeHeader(bytes);
    if (!taken.ok()) return taken.status();
    bytes = bytes.subspan(*taken);
  }
  return TakeData(bytes);
}

// Takes the bytes that the length, or then the text, still misses.
Result<size_t> SafetensorsReader::TakeHeader(std::span<const uint8_t> bytes) {
  uint64_t length = 0;
  if (header_.size() >= kLengthBytes) std::memcpy(&length, header_.data(), kLengthBytes);
  const uint64_t wanted = kLengthBytes + length;
  const size_t taken = std::min<uint64_t>(bytes.size(), wanted - header_.size());
  header_.insert(header_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
  offset_ += taken;
  if (header_.size() == kLengthBytes) {
    std::memcpy(&length, header_.data(), kLengthBytes);
    if (length == 0 || length > kMaxHeaderBytes || length > file_size_ - kLengthBytes) {
      return MalformedFile(file_name_ + ": a header of " + std::to_string(length) +
                           " bytes does not fit a file of " + std::to_string(file_size_) +
                           "; this is no safetensors file, or it is cut off");
    }
    return taken;
  }
  if (header_.size() < wanted) return taken;
  const std::string_view text(reinterpret_cast<const char*>(header_.data()) + kLengthBytes,
                              static_cast<size_t>(length));
  Result<std::vector<SafetensorsTensor>> tensors =
      ParseSafetensorsHeader(text, file_size_ - wanted);
  if (!tensors.ok()) return InFile(tensors.status());
  tensors_ = *std::move(tensors);
  header_ = {};
  data_offset_ = wanted;
  if (Status status = sink_.OnHeader(tensors_); !status.ok()) return InFile(status);
  if (Status status = EndEmptyTensors(); !status.ok()) return status;
  return taken;
}

Status SafetensorsReader::EndEmptyTensors() {
  for (; tensor_ < tensors_.size() && tensors_[tensor_].bytes() == 0; ++tensor_) {
    if (Status status = sink_.BeginTensor(tensors_[tensor_]); !status.ok()) return InFile(status);
    if (Status status = sink_.EndTensor(tensors_[tensor_]); !status.ok()) return InFile(status);
  }
  return Status();
}

Status SafetensorsReader::TakeData(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const SafetensorsTensor& tensor = tensors_[tensor_];
    const uint64_t at = offset_ - data_offset_;
    if (at == tensor.begin) {
      if (Status status = sink_.BeginTensor(tensor); !status.ok()) return InFile(status);
    }
    const size_t count = std::min<uint64_t>(tensor.end - at, bytes.size());
    if (Status status = sink_.TensorBytes(bytes.first(count)); !status.ok()) return InFile(status);
    bytes = bytes.subspan(count);
    offset_ += count;
    if (at + count < tensor.end) continue;
    if (Status status = sink_.EndTensor(tensor); !status.ok()) return InFile(status);
    ++tensor_;
    if (Status status = EndEmptyTensors(); !status.ok()) return status;
  }
  return Status();
}

}  // namespace kvasir
