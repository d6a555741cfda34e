// The golden vectors' arrays, and the weights of the models without files.
#ifndef KVASIR_TESTS_CPP_MODEL_GOLDEN_VALUES_H_
#define KVASIR_TESTS_CPP_MODEL_GOLDEN_VALUES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "format/gguf_reader.h"
#include "model/weights_builder.h"
#include "shared_models.h"

namespace kvasir {

// Names the tests of a model: GoogleTest takes no hyphens.
inline constexpr auto kNameOfModel = [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};

inline std::vector<float> ReadFloats(const std::string& name) {
  const std::string bytes = ReadGolden(name + ".bin").value_or("");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

// `count` values in [-1, 1): FNV-1a of the name seeds SplitMix64.
inline std::vector<float> Uniform(const std::string& name, int64_t count) {
  uint64_t seed = 0xcbf29ce484222325u;
  for (unsigned char byte : name) seed = (seed ^ byte) * 0x100000001b3u;
  std::vector<float> values;
  for (int64_t i = 1; i <= count; ++i) {
    uint64_t z = seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    values.push_back(static_cast<float>(static_cast<double>(z >> 40) / (1 << 23) - 1.0));
  }
  return values;
}

inline std::vector<float> TensorValues(const TensorInfo& info) {
  std::vector<float> values = Uniform(info.name, info.elements());
  float scale = 0.2f, offset = 1.0f;
  if (info.name.ends_with("bias")) {
    scale = 0.3f;
    offset = 0.0f;
  } else if (info.dimensions >= 2) {
    scale = info.name == "token_embd.weight"
                ? 1.0f
                : static_cast<float>(std::sqrt(3.0 / static_cast<double>(info.shape[0])));
    offset = 0.0f;
  }
  for (float& value : values) value = value * scale + offset;
  return values;
}

inline Status AddTensor(WeightsBuilder& builder, const TensorInfo& info,
                        const std::vector<float>& values) {
  Result<std::span<uint8_t>> memory = builder.Begin(info);
  if (!memory.ok()) return memory.status();
  std::memcpy(memory->data(), values.data(), memory->size());
  return builder.End(info);
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_MODEL_GOLDEN_VALUES_H_
