// Strided views of memory that somebody else owns. The public layout of q, k,
// v, cached K and cached V is [B, H, S, D] (batch, heads, sequence, head_dim).
#ifndef KVASIR_BASE_VIEW_H_
#define KVASIR_BASE_VIEW_H_

#include <array>
#include <cstdint>

namespace kvasir {

// A pointer, four sizes and four strides (in elements). The last dimension is
// contiguous: stride[3] is 1.
template <class T>
struct View4 {
  T* data = nullptr;
  std::array<int64_t, 4> size = {};
  std::array<int64_t, 4> stride = {};

  int64_t batch() const { return size[0]; }
  int64_t heads() const { return size[1]; }
  int64_t seq() const { return size[2]; }
  int64_t dim() const { return size[3]; }

  T* Row(int64_t b, int64_t h, int64_t s) const {
    return data + b * stride[0] + h * stride[1] + s * stride[2];
  }

  operator View4<const T>() const {  // NOLINT(google-explicit-constructor)
    return {data, size, stride};
  }
};

// A [S, H * D] matrix of rows (what a projection writes) seen as [1, H, S, D].
template <class T>
View4<T> HeadsOfRows(T* rows, int64_t heads, int64_t seq, int64_t head_dim) {
  return {rows, {1, heads, seq, head_dim}, {seq * heads * head_dim, head_dim, heads * head_dim, 1}};
}

}  // namespace kvasir

#endif  // KVASIR_BASE_VIEW_H_
