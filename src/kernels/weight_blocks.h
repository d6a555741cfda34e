// How each tensor type's elements become vectors of f32: a block is 32
// consecutive columns of a row, for the types without blocks too. Internal to
// the kernels.
#ifndef KVASIR_KERNELS_WEIGHT_BLOCKS_H_
#define KVASIR_KERNELS_WEIGHT_BLOCKS_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/tensor_type.h"
#include "simd/simd.h"

namespace kvasir {

inline constexpr int64_t kBlockColumns = 32;

using ByteTag = hn::Rebind<uint8_t, FloatTag>;  // as many bytes as f32 lanes
using SignedByteTag = hn::Rebind<int8_t, FloatTag>;
using IntTag = hn::Rebind<int32_t, FloatTag>;

// Each has: Vector(j), elements [j, j + lanes) of the block, j a multiple of the
// lanes; and, for types whose rows need not be whole blocks, Partial(j, count).
struct F32Block {
  static constexpr bool kWholeBlocks = false;
  F32Block(const uint8_t* row, int64_t block)
      : data(reinterpret_cast<const float*>(row) + block * kBlockColumns) {}
  FloatVector Vector(int64_t j) const { return hn::LoadU(FloatTag(), data + j); }
  FloatVector Partial(int64_t j, size_t count) const {
    return hn::LoadN(FloatTag(), data + j, count);
  }
  const float* data;
};

struct F16Block {
  static constexpr bool kWholeBlocks = false;
  F16Block(const uint8_t* row, int64_t block)
      : data(reinterpret_cast<const uint16_t*>(row) + block * kBlockColumns) {}
  FloatVector Vector(int64_t j) const { return LoadF16(FloatTag(), data + j); }
  FloatVector Partial(int64_t j, size_t count) const {
    const hn::Rebind<uint16_t, FloatTag> d16;
    const hn::Repartition<uint32_t, FloatTag> du;
    return F16BitsToF32(FloatTag(), hn::PromoteTo(du, hn::LoadN(d16, data + j, count)));
  }
  const uint16_t* data;
};

struct BF16Block {
  static constexpr bool kWholeBlocks = false;
  BF16Block(const uint8_t* row, int64_t block)
      : data(reinterpret_cast<const uint16_t*>(row) + block * kBlockColumns) {}
  FloatVector Vector(int64_t j) const { return LoadBF16(FloatTag(), data + j); }
  FloatVector Partial(int64_t j, size_t count) const {
    const hn::Rebind<uint16_t, FloatTag> d16;
    const hn::Repartition<uint32_t, FloatTag> du;
    return hn::BitCast(FloatTag(),
                       hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadN(d16, data + j, count))));
  }
  const uint16_t* data;
};

inline float ScaleAt(const uint8_t* block) {
  uint16_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  return F16ToF32(bits);
}

struct Q8_0Block {
  static constexpr bool kWholeBlocks = true;
  static constexpr int64_t kBytes = 34;
  Q8_0Block(const uint8_t* row, int64_t block)
      : data(reinterpret_cast<const int8_t*>(row + block * kBytes + 2)),
        scale(hn::Set(FloatTag(), ScaleAt(row + block * kBytes))) {}
  FloatVector Vector(int64_t j) const {
    const auto q = hn::PromoteTo(IntTag(), hn::LoadU(SignedByteTag(), data + j));
    return hn::Mul(hn::ConvertTo(FloatTag(), q), scale);
  }
  const int8_t* data;
  FloatVector scale;
};

struct Q4_0Block {
  static constexpr bool kWholeBlocks = true;
  static constexpr int64_t kBytes = 18;
  Q4_0Block(const uint8_t* row, int64_t block)
      : data(row + block * kBytes + 2), scale(hn::Set(FloatTag(), ScaleAt(row + block * kBytes))) {}
  FloatVector Vector(int64_t j) const {
    static_assert(HWY_MAX_LANES_D(FloatTag) <= 16, "a vector must lie within one half of a block");
    const bool high = j >= 16;
    const auto bytes = hn::PromoteTo(IntTag(), hn::LoadU(ByteTag(), data + (high ? j - 16 : j)));
    const auto nibbles = high ? hn::ShiftRight<4>(bytes) : hn::And(bytes, hn::Set(IntTag(), 15));
    return hn::Mul(hn::ConvertTo(FloatTag(), hn::Sub(nibbles, hn::Set(IntTag(), 8))), scale);
  }
  const uint8_t* data;
  FloatVector scale;
};

// Calls fn with the block type for `type`; false for types that are only ever
// packed (see packed_types.h).
template <class F>
bool WithBlockType(TensorType type, F&& fn) {
  switch (type) {
    case TensorType::kF32:
      fn(std::type_identity<F32Block>());
      return true;
    case TensorType::kF16:
      fn(std::type_identity<F16Block>());
      return true;
    case TensorType::kBF16:
      fn(std::type_identity<BF16Block>());
      return true;
    case TensorType::kQ8_0:
      fn(std::type_identity<Q8_0Block>());
      return true;
    case TensorType::kQ4_0:
      fn(std::type_identity<Q4_0Block>());
      return true;
    default:
      return false;
  }
}

}  // namespace kvasir

#endif  // KVASIR_KERNELS_WEIGHT_BLOCKS_H_
