#include "base/aligned_buffer.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace kvasir {

Result<AlignedBuffer> AlignedBuffer::Allocate(size_t size, bool zeroed) {
  AlignedBuffer buffer;
  if (size == 0) return buffer;
  if (size > std::numeric_limits<size_t>::max() - kAlignment) {
    return OutOfMemory("a block of " + std::to_string(size) + " bytes cannot be addressed");
  }
  const size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
  buffer.data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kAlignment, padded)));
  if (buffer.data_ == nullptr) {
    return OutOfMemory("no memory left for a block of " + std::to_string(size) +
                       " bytes; use a smaller model or context, or a smaller KV cache type");
  }
  buffer.size_ = size;
  const size_t first = zeroed ? 0 : size;
  std::memset(buffer.data_.get() + first, 0, padded - first);
  return buffer;
}

}  // namespace kvasir
