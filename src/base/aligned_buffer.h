// A block of bytes on a 64-byte boundary: weights, caches, scratch.
#ifndef KVASIR_BASE_ALIGNED_BUFFER_H_
#define KVASIR_BASE_ALIGNED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/status.h"

namespace kvasir {

class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;

  // `size` bytes, zeroed if asked; OUT_OF_MEMORY when the system has none left.
  // The block is padded to a multiple of kAlignment, and so may be read (not
  // written) by whole vectors past `size` up to that multiple.
  static Result<AlignedBuffer> Allocate(size_t size, bool zeroed = false);

  size_t size() const { return size_; }
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  std::span<uint8_t> bytes() { return {data_.get(), size_}; }
  std::span<const uint8_t> bytes() const { return {data_.get(), size_}; }

  // The block as an array of T; the caller knows the count.
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_.get());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(uint8_t* block) const { std::free(block); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
};

}  // namespace kvasir

#endif  // KVASIR_BASE_ALIGNED_BUFFER_H_
