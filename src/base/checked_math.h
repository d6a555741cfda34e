// Size arithmetic on numbers that come from a file or a caller: the result is
// empty where it would overflow.
#ifndef KVASIR_BASE_CHECKED_MATH_H_
#define KVASIR_BASE_CHECKED_MATH_H_

#include <concepts>
#include <optional>

namespace kvasir {

template <std::integral T>
std::optional<T> CheckedAdd(T a, T b) {
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
std::optional<T> CheckedMul(T a, T b) {
  T product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

}  // namespace kvasir

#endif  // KVASIR_BASE_CHECKED_MATH_H_
