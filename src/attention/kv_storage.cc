#include "attention/kv_storage.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "kernels/convert.h"
#include "kernels/quantize_row.h"

namespace kvasir {
namespace {

int64_t ElementBytes(KvType type) {
  switch (type) {
    case KvType::kF32:
      return sizeof(float);
    case KvType::kF16:
      return sizeof(uint16_t);
    case KvType::kI8:
      break;
  }
  return sizeof(int8_t);
}

}  // namespace

int64_t KvRowBytes(KvType type, int64_t dim) {
  const int64_t quantization = type == KvType::kI8 ? sizeof(float) + sizeof(int8_t) : 0;
  return dim * ElementBytes(type) + quantization;
}

Result<KvStorage> KvStorage::Create(KvType type, int64_t heads, int64_t slots, int64_t dim) {
  if (heads < 1 || dim < 1 || slots < 1) {
    return InvalidArgument("a KV cache needs at least one head, dimension and position");
  }
  const auto rows = CheckedMul(heads, slots);
  const auto elements = rows ? CheckedMul(*rows, dim) : rows;
  // No type takes more than 8 bytes a value, for K and V together.
  const auto bytes = elements ? CheckedMul(*elements, int64_t{8}) : elements;
  if (!bytes || static_cast<uint64_t>(*bytes) > std::numeric_limits<size_t>::max()) {
    return InvalidArgument("a KV cache of this shape cannot be addressed");
  }
  KvStorage storage(type, heads, slots, dim);
  Result<Half> k = storage.AllocateHalf();
  if (!k.ok()) return k.status();
  Result<Half> v = storage.AllocateHalf();
  if (!v.ok()) return v.status();
  storage.k_ = *std::move(k);
  storage.v_ = *std::move(v);
  return storage;
}

Result<KvStorage::Half> KvStorage::AllocateHalf() const {
  const size_t rows = static_cast<size_t>(heads_ * slots_);
  Half half;
  Result<AlignedBuffer> memory =
      AlignedBuffer::Allocate(rows * static_cast<size_t>(dim_ * ElementBytes(type_)));
  if (!memory.ok()) return memory.status();
  half.rows = *std::move(memory);
  if (type_ != KvType::kI8) return half;
  Result<AlignedBuffer> scales = AlignedBuffer::Allocate(rows * sizeof(float));
  if (!scales.ok()) return scales.status();
  Result<AlignedBuffer> zero_points = AlignedBuffer::Allocate(rows);
  if (!zero_points.ok()) return zero_points.status();
  half.scales = *std::move(scales);
  half.zero_points = *std::move(zero_points);
  return half;
}

void KvStorage::Store(int64_t slot, const View4<const float>& k, const View4<const float>& v,
                      int64_t row) {
  for (int64_t head = 0; head < heads_; ++head) {
    const int64_t index = head * slots_ + slot;
    StoreRow(k.Row(0, head, row), index, k_);
    StoreRow(v.Row(0, head, row), index, v_);
  }
}

void KvStorage::StoreRow(const float* in, int64_t index, Half& half) const {
  switch (type_) {
    case KvType::kF32:
      std::memcpy(half.rows.as<float>() + index * dim_, in,
                  static_cast<size_t>(dim_) * sizeof(float));
      return;
    case KvType::kF16:
      F32ToF16(in, dim_, half.rows.as<uint16_t>() + index * dim_);
      return;
    case KvType::kI8:
      const RowQuantization row = QuantizeRow(in, dim_, half.rows.as<int8_t>() + index * dim_);
      half.scales.as<float>()[index] = row.scale;
      half.zero_points.as<int8_t>()[index] = row.zero_point;
      return;
  }
}

KvRows KvStorage::Rows(const Half& half, int64_t first_slot, int64_t count) const {
  KvRows rows;
  rows.type = type_;
  rows.data = half.rows.data() + first_slot * dim_ * ElementBytes(type_);
  rows.size = {1, heads_, count, dim_};
  rows.stride = {heads_ * slots_ * dim_, slots_ * dim_, dim_, 1};
  if (type_ == KvType::kI8) {
    rows.scale = half.scales.as<float>() + first_slot;
    rows.zero_point = half.zero_points.as<int8_t>() + first_slot;
    rows.quant_stride = {heads_ * slots_, slots_, 1};
  }
  return rows;
}

template <class Storage, class Visit>
void KvStorage::ForEachPiece(Storage& storage, int64_t first, int64_t count, Visit visit) {
  const auto pieces_of = [&](auto& buffer, int64_t slot_bytes) {
    for (int64_t head = 0; head < storage.heads_; ++head) {
      visit(buffer.data() + (head * storage.slots_ + first) * slot_bytes,
            static_cast<size_t>(count * slot_bytes));
    }
  };
  for (auto* half : {&storage.k_, &storage.v_}) {
    pieces_of(half->rows, storage.dim_ * ElementBytes(storage.type_));
    if (storage.type_ != KvType::kI8) continue;
    pieces_of(half->scales, sizeof(float));
    pieces_of(half->zero_points, sizeof(int8_t));
  }
}

void KvStorage::CopyFrom(const KvStorage& other, int64_t first, int64_t count) {
  for (const auto& [from, to] : {std::pair(&other.k_, &k_), std::pair(&other.v_, &v_)}) {
    const auto copy = [&](const AlignedBuffer& source, AlignedBuffer& target, int64_t slot_bytes) {
      for (int64_t head = 0; head < heads_; ++head) {
        std::memcpy(target.data() + (head * slots_ + first) * slot_bytes,
                    source.data() + (head * other.slots_ + first) * slot_bytes,
                    static_cast<size_t>(count * slot_bytes));
      }
    };
    copy(from->rows, to->rows, dim_ * ElementBytes(type_));
    if (type_ != KvType::kI8) continue;
    copy(from->scales, to->scales, sizeof(float));
    copy(from->zero_points, to->zero_points, sizeof(int8_t));
  }
}

void KvStorage::Save(int64_t first, int64_t count, uint8_t* out) const {
  ForEachPiece(*this, first, count, [&](const uint8_t* piece, size_t size) {
    std::memcpy(out, piece, size);
    out += size;
  });
}

void KvStorage::Load(int64_t first, int64_t count, const uint8_t* in) {
  ForEachPiece(*this, first, count, [&](uint8_t* piece, size_t size) {
    std::memcpy(piece, in, size);
    in += size;
  });
}

}  // namespace kvasir
