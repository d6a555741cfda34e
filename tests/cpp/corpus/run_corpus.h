// Runs a fuzz target over the inputs that are kept for it.
#ifndef KVASIR_TESTS_CPP_CORPUS_RUN_CORPUS_H_
#define KVASIR_TESTS_CPP_CORPUS_RUN_CORPUS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "shared_models.h"

namespace kvasir {

using FuzzTarget = int (*)(const uint8_t*, size_t);

// A target aborts on what is wrong. Each input also runs with every end cut off.
inline void RunCorpus(const std::string& name, FuzzTarget target) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KVASIR_SOURCE_DIR) +
                                                               "/tests/fuzz/corpus/" + name)) {
    const std::string bytes = ReadFile(entry.path().string()).value_or("");
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    target(data, bytes.size());
    for (size_t size = 0; size < bytes.size(); size += 1 + size / 16) target(data, size);
    ++files;
  }
  EXPECT_GT(files, 0) << "the corpus of " << name << " is empty";
}

}  // namespace kvasir

#endif  // KVASIR_TESTS_CPP_CORPUS_RUN_CORPUS_H_
