// Real models and vocabularies beside the repository, for the tests that want
// them; a test skips where they are missing.
#ifndef KVASIR_TESTS_CPP_SHARED_MODELS_H_
#define KVASIR_TESTS_CPP_SHARED_MODELS_H_

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace kvasir {

inline std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The contents of ../shared/models/<name>, seen from the repository's root.
inline std::optional<std::string> ReadSharedModel(const std::string& name) {
  return ReadFile(std::string(KVASIR_SOURCE_DIR) + "/../shared/models/" + name);
}

inline std::optional<std::string> ReadGolden(const std::string& name) {
  return ReadFile(std::string(KVASIR_SOURCE_DIR) + "/tests/golden/" + name);
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_SHARED_MODELS_H_
