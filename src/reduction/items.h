// SPDX-License-Identifier: BSD-3-Clause
// items.h - sums and extremes of the items of numerical libraries: real and complex numbers.
// "Greatest" and "least" refer to the distance from 0, of complex numbers |re| + |im|.
#pragma once

#include <cstddef>

namespace nagaya {

template <class T>
struct Complex {
  T re, im;
};

template <class T>
T sum_of(T a, T b) {
  return a + b;
}
template <class T>
Complex<T> sum_of(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class T>
T distance_from_0(T item) {
  return item < 0 ? -item : item;
}
template <class T>
T distance_from_0(Complex<T> item) {
  return distance_from_0(item.re) + distance_from_0(item.im);
}

template <class T>
bool is_less(T a, T b) {
  return a < b;
}
template <class T>
bool is_less(Complex<T> a, Complex<T> b) {
  return a.re != b.re ? a.re < b.re : a.im < b.im;
}

// Whether b is a better extreme than a. If they are equally far from 0 the greater is better.
template <class T>
bool is_second_better(const T& a, const T& b, bool wants_greatest) {
  const auto far_a = distance_from_0(a), far_b = distance_from_0(b);
  if (wants_greatest ? far_a < far_b : far_b < far_a) return true;
  return far_a == far_b && is_less(a, b);  // no NaN is better than a number
}

// inout[n] = in[n] + inout[n]
template <class T>
void add_items(const void* in, void* inout, size_t count) {
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(inout);
  for (size_t n = 0; n < count; ++n) to[n] = sum_of(from[n], to[n]);
}

// inout[n] = the better of in[n] and inout[n]
template <class T>
void choose_items(bool wants_greatest, const void* in, void* inout, size_t count) {
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(inout);
  for (size_t n = 0; n < count; ++n)
    if (is_second_better(to[n], from[n], wants_greatest)) to[n] = from[n];
}

}  // namespace nagaya
