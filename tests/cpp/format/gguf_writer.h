// Writes small GGUF files, right and wrong ones.
#ifndef KVASIR_TESTS_CPP_FORMAT_GGUF_WRITER_H_
#define KVASIR_TESTS_CPP_FORMAT_GGUF_WRITER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/tensor_type.h"
#include "format/metadata.h"

namespace kvasir {

// Bytes, little-endian.
class ByteWriter {
 public:
  template <class T>
  ByteWriter& Put(T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  ByteWriter& Text(std::string_view text) {
    Put<uint64_t>(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  ByteWriter& Type(ValueType type) { return Put(static_cast<uint32_t>(type)); }
  ByteWriter& Append(const std::vector<uint8_t>& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Every member can be set to what a test wants to break.
struct GgufWriter {
  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;
    uint32_t type = static_cast<uint32_t>(TensorType::kF32);
    uint64_t offset = 0;
    std::vector<uint8_t> data;
  };

  uint32_t magic = 0x46554747;
  uint32_t version = 3;
  uint64_t alignment = 32;
  int64_t extra_tensor_count = 0;
  int64_t extra_key_count = 0;
  std::vector<std::vector<uint8_t>> keys;  // each: key, type, value
  std::vector<Tensor> tensors;

  template <class T>
  void Key(std::string_view key, ValueType type, T value) {
    keys.push_back(ByteWriter().Text(key).Type(type).Put(value).bytes());
  }
  void StringKey(std::string_view key, std::string_view value) {
    keys.push_back(ByteWriter().Text(key).Type(ValueType::kString).Text(value).bytes());
  }
  template <class T>
  void ArrayKey(std::string_view key, ValueType type, const std::vector<T>& values) {
    ByteWriter out;
    out.Text(key).Type(ValueType::kArray).Type(type).template Put<uint64_t>(values.size());
    for (const T& value : values) {
      if constexpr (std::is_same_v<T, std::string>) {
        out.Text(value);
      } else {
        out.Put(value);
      }
    }
    keys.push_back(out.bytes());
  }

  // An F32 tensor of the values first, first + 1, ..., placed after the others.
  void F32Tensor(const std::string& name, const std::vector<int64_t>& shape, float first) {
    Tensor tensor{name, shape, static_cast<uint32_t>(TensorType::kF32), 0, {}};
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    for (int64_t i = 0; i < count; ++i) {
      const float value = first + static_cast<float>(i);
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      tensor.data.insert(tensor.data.end(), bytes, bytes + sizeof(value));
    }
    if (!tensors.empty()) {
      const Tensor& last = tensors.back();
      tensor.offset = (last.offset + last.data.size() + alignment - 1) / alignment * alignment;
    }
    tensors.push_back(std::move(tensor));
  }

  std::vector<uint8_t> Write() const {
    ByteWriter out;
    out.Put(magic).Put(version);
    out.Put(static_cast<uint64_t>(static_cast<int64_t>(tensors.size()) + extra_tensor_count));
    out.Put(static_cast<uint64_t>(static_cast<int64_t>(keys.size()) + extra_key_count));
    for (const auto& key : keys) out.Append(key);
    for (const Tensor& tensor : tensors) {
      out.Text(tensor.name).Put(static_cast<uint32_t>(tensor.shape.size()));
      for (int64_t size : tensor.shape) out.Put(size);
      out.Put(tensor.type).Put(tensor.offset);
    }
    std::vector<uint8_t> bytes = out.bytes();
    if (tensors.empty()) return bytes;
    const size_t data = (bytes.size() + alignment - 1) / alignment * alignment;
    for (const Tensor& tensor : tensors) {
      if (tensor.offset > (1u << 20)) continue;  // a test's absurd offset
      const size_t end = data + tensor.offset + tensor.data.size();
      if (bytes.size() < end) bytes.resize(end);
      std::memcpy(bytes.data() + data + tensor.offset, tensor.data.data(), tensor.data.size());
    }
    return bytes;
  }
};

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_FORMAT_GGUF_WRITER_H_
