// The memory of a cache: slots for rows of K and V in their stored type. Knows
// no positions.
#ifndef KVASIR_ATTENTION_KV_STORAGE_H_
#define KVASIR_ATTENTION_KV_STORAGE_H_

#include <cstdint>
#include <span>

#include "attention/kv_view.h"
#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/view.h"

namespace kvasir {

// Bytes that `dim` values take in a slot, with the scale and the zero point of kI8.
int64_t KvRowBytes(KvType type, int64_t dim);

class KvStorage {
 public:
  // [heads, slots, dim] for K and for V. OUT_OF_MEMORY when it does not fit,
  // INVALID_ARGUMENT for a shape that is not positive or whose size overflows.
  static Result<KvStorage> Create(KvType type, int64_t heads, int64_t slots, int64_t dim);

  KvType type() const { return type_; }
  int64_t heads() const { return heads_; }
  int64_t slots() const { return slots_; }
  int64_t dim() const { return dim_; }
  int64_t bytes() const { return k_.bytes() + v_.bytes(); }

  // Row `row` of all heads of k and v, [1, heads, S, dim].
  void Store(int64_t slot, const View4<const float>& k, const View4<const float>& v, int64_t row);

  KvRows K(int64_t first_slot, int64_t count) const { return Rows(k_, first_slot, count); }
  KvRows V(int64_t first_slot, int64_t count) const { return Rows(v_, first_slot, count); }

  // Slots [first, first + count) of another storage of the same type, heads and dim.
  void CopyFrom(const KvStorage& other, int64_t first, int64_t count);

  // Slots as bytes, SavedBytes(count) of them: K, then V, of each the rows of
  // all heads, then with kI8 the scales and the zero points.
  int64_t SavedBytes(int64_t count) const { return 2 * heads_ * count * KvRowBytes(type_, dim_); }
  void Save(int64_t first, int64_t count, uint8_t* out) const;
  void Load(int64_t first, int64_t count, const uint8_t* in);

 private:
  // One of K and V.
  struct Half {
    AlignedBuffer rows;         // [heads, slots, dim]
    AlignedBuffer scales;       // [heads, slots] of float, kI8 only
    AlignedBuffer zero_points;  // [heads, slots] of int8_t, kI8 only

    int64_t bytes() const {
      return static_cast<int64_t>(rows.size() + scales.size() + zero_points.size());
    }
  };

  KvStorage(KvType type, int64_t heads, int64_t slots, int64_t dim)
      : type_(type), heads_(heads), slots_(slots), dim_(dim) {}

  Result<Half> AllocateHalf() const;
  void StoreRow(const float* in, int64_t index, Half& half) const;
  KvRows Rows(const Half& half, int64_t first_slot, int64_t count) const;

  // Calls visit(bytes, size) for every contiguous piece that slots [first,
  // first + count) of a storage consist of, in the order of Save.
  template <class Storage, class Visit>
  static void ForEachPiece(Storage& storage, int64_t first, int64_t count, Visit visit);

  KvType type_;
  int64_t heads_;
  int64_t slots_;
  int64_t dim_;
  Half k_, v_;
};

}  // namespace kvasir

#endif  // KVASIR_ATTENTION_KV_STORAGE_H_
