// What fuzz targets of readers share: a file at once and in portions gives the same.
#ifndef KVASIR_TESTS_FUZZ_IN_PORTIONS_H_
#define KVASIR_TESTS_FUZZ_IN_PORTIONS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/status.h"

namespace kvasir::fuzz {

inline void Require(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  Status status;
  uint64_t checksum;  // of what the reader gave, where it read all
};

template <class Reader>
Status AppendAll(Reader& reader, std::span<const uint8_t> file, size_t portion) {
  while (!file.empty()) {
    const size_t count = portion < file.size() ? portion : file.size();
    // A copy of its own, so that a read beyond the portion is noticed.
    const std::vector<uint8_t> bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(count));
    if (Status status = reader.Append(bytes); !status.ok()) return status;
    file = file.subspan(count);
  }
  return Status();
}

// `read(file, portion)` gives an Outcome. The first byte of `data` tells the portion.
template <class Read>
int CompareWholeAndParts(const uint8_t* data, size_t size, const Read& read) {
  if (size == 0) return 0;
  const std::span<const uint8_t> file(data + 1, size - 1);
  const Outcome whole = read(file, file.size() + 1);
  const Outcome parts = read(file, size_t{1} + data[0]);
  Require(whole.status.code() == parts.status.code());
  Require(whole.status.message() == parts.status.message());
  Require(whole.checksum == parts.checksum);
  Require(whole.status.ok() || !whole.status.message().empty());
  return 0;
}

}  // namespace kvasir::fuzz

#endif  // KVASIR_TESTS_FUZZ_IN_PORTIONS_H_
