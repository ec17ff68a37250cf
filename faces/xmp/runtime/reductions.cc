// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/reductions.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <type_traits>

#include "reduction/items.h"

namespace nagaya::xmp {
namespace {

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<Complex<T>> = true;

// Integers wrap on overflow, like unsigned integers in C.
constexpr auto kSum = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return sum_of(a, b);
};
constexpr auto kProduct = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else if constexpr (is_complex<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else
    return a * b;
};
constexpr auto kMax = []<class T>(T a, T b) { return b < a ? a : b; };
constexpr auto kMin = []<class T>(T a, T b) { return a < b ? a : b; };

template <class T>
bool is_true(T value) {
  if constexpr (is_complex<T>)
    return value.re != 0 || value.im != 0;
  else
    return value != 0;
}
template <class T>
T truth(bool value) {
  if constexpr (is_complex<T>)
    return {value ? decltype(T::re){1} : decltype(T::re){0}, 0};
  else
    return static_cast<T>(value);
}
constexpr auto kAnd = []<class T>(T a, T b) { return truth<T>(is_true(a) && is_true(b)); };
constexpr auto kOr = []<class T>(T a, T b) { return truth<T>(is_true(a) || is_true(b)); };
constexpr auto kXor = []<class T>(T a, T b) { return truth<T>(is_true(a) != is_true(b)); };

template <auto operation, class T>
void reduce(void*, const void* in, void* inout, size_t count) {
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(inout);
  for (size_t n = 0; n < count; ++n) to[n] = operation(from[n], to[n]);
}

template <class T>
Reduce* reduction(nagaya_xmp_operation operation) {
  switch (operation) {
    case NAGAYA_XMP_SUM:
      return reduce<kSum, T>;
    case NAGAYA_XMP_PRODUCT:
      return reduce<kProduct, T>;
    case NAGAYA_XMP_AND:
      return reduce<kAnd, T>;
    case NAGAYA_XMP_OR:
      return reduce<kOr, T>;
    case NAGAYA_XMP_XOR:
      return reduce<kXor, T>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == NAGAYA_XMP_BIT_AND) return reduce<std::bit_and<T>{}, T>;
    if (operation == NAGAYA_XMP_BIT_OR) return reduce<std::bit_or<T>{}, T>;
    if (operation == NAGAYA_XMP_BIT_XOR) return reduce<std::bit_xor<T>{}, T>;
  }
  if constexpr (!is_complex<T>) {
    if (is_maximum(operation)) return reduce<kMax, T>;
    if (is_minimum(operation)) return reduce<kMin, T>;
  }
  return nullptr;
}

template <class T>
int compare(const void* a, const void* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return (y < x) - (x < y);
}

template <class T>
void multiply_add(const void* factor, const void* in, void* sums, size_t count) {
  T value;
  std::memcpy(&value, factor, sizeof value);
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(sums);
  for (size_t n = 0; n < count; ++n) to[n] = kSum(to[n], kProduct(value, from[n]));
}

struct Type {
  size_t bytes;
  Reduce* (*reduction)(nagaya_xmp_operation);
  MultiplyAdd* multiply_add;
  Compare* comparison;
};

template <class T>
constexpr Type type_of() {
  if constexpr (is_complex<T>)
    return {sizeof(T), reduction<T>, multiply_add<T>, nullptr};
  else
    return {sizeof(T), reduction<T>, multiply_add<T>, compare<T>};
}

// Indexed by nagaya_xmp_type.
constexpr Type kTypes[] = {
    type_of<bool>(),
    type_of<signed char>(),
    type_of<unsigned char>(),
    type_of<short>(),
    type_of<unsigned short>(),
    type_of<int>(),
    type_of<unsigned>(),
    type_of<long>(),
    type_of<unsigned long>(),
    type_of<float>(),
    type_of<double>(),
    type_of<long double>(),
    type_of<Complex<float>>(),
    type_of<Complex<double>>(),
    type_of<Complex<long double>>(),
};
static_assert(std::size(kTypes) == NAGAYA_XMP_LONG_DOUBLE_COMPLEX + 1);

}  // namespace

bool is_maximum(nagaya_xmp_operation operation) {
  return operation == NAGAYA_XMP_MAX || operation == NAGAYA_XMP_FIRST_MAX ||
         operation == NAGAYA_XMP_LAST_MAX;
}

bool is_minimum(nagaya_xmp_operation operation) {
  return operation == NAGAYA_XMP_MIN || operation == NAGAYA_XMP_FIRST_MIN ||
         operation == NAGAYA_XMP_LAST_MIN;
}

size_t bytes_of(nagaya_xmp_type type) {
  return kTypes[type].bytes;
}

Reduce* reduction_of(nagaya_xmp_operation operation, nagaya_xmp_type type) {
  return kTypes[type].reduction(operation);
}

MultiplyAdd* multiply_add_of(nagaya_xmp_type type) {
  return kTypes[type].multiply_add;
}

Compare* comparison_of(nagaya_xmp_type type) {
  return kTypes[type].comparison;
}

}  // namespace nagaya::xmp
