// SPDX-License-Identifier: BSD-3-Clause
// reductions.cc - loops that the compiler vectorizes: -O3, and no fused multiply-add, whose bits
// would depend on the place of an item in its array.
#include "objects/reductions.h"

#include <cstring>
#include <type_traits>

namespace nagaya::mpi {
namespace {

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<Complex<T>> = true;
template <class T>
constexpr bool is_logical = false;
template <class T>
constexpr bool is_logical<Logical<T>> = true;
template <class T>
constexpr bool is_located = false;
template <class Value, class Index>
constexpr bool is_located<Located<Value, Index>> = true;

// ---- the operations: a is of the lower ranks
// ------------------------------------------------------

// Integers wrap on overflow. Shorter ones are computed as unsigned: uint16_t times itself is an int
// in C++.
template <class T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

constexpr auto kMax = []<class T>(T a, T b) -> T { return b < a ? a : b; };
constexpr auto kMin = []<class T>(T a, T b) -> T { return a < b ? a : b; };
constexpr auto kSum = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else
    return sum_of(a, b);
};
constexpr auto kProd = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  else if constexpr (is_complex<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else
    return a * b;
};

constexpr auto kLand = []<class T>(T a, T b) -> T { return static_cast<T>(a != 0 && b != 0); };
constexpr auto kLor = []<class T>(T a, T b) -> T { return static_cast<T>(a != 0 || b != 0); };
constexpr auto kLxor = []<class T>(T a, T b) -> T { return static_cast<T>((a != 0) != (b != 0)); };

// The result is true as one of the operands is.
constexpr auto kLogicalAnd = []<class T>(T a, T b) -> T { return a.value != 0 ? b : a; };
constexpr auto kLogicalOr = []<class T>(T a, T b) -> T { return a.value != 0 ? a : b; };
constexpr auto kLogicalXor = []<class T>(T a, T b) -> T {
  if (a.value != 0 && b.value != 0) return T{0};
  return a.value != 0 ? a : b;
};

constexpr auto kBand = []<class T>(T a, T b) -> T { return static_cast<T>(a & b); };
constexpr auto kBor = []<class T>(T a, T b) -> T { return static_cast<T>(a | b); };
constexpr auto kBxor = []<class T>(T a, T b) -> T { return static_cast<T>(a ^ b); };

// Of equal values the lower index counts.
constexpr auto kMaxloc = []<class T>(T a, T b) -> T {
  return b.value < a.value || (a.value == b.value && a.index < b.index) ? a : b;
};
constexpr auto kMinloc = []<class T>(T a, T b) -> T {
  return a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b;
};

// ---- all of a type
// ----------------------------------------------------------------------------------

template <auto operation, class T>
void reduce(void*, const void* in, void* inout, size_t count) {
  const T* const __restrict from = static_cast<const T*>(in);
  T* const __restrict to = static_cast<T*>(inout);
  for (size_t n = 0; n < count; ++n) to[n] = operation(from[n], to[n]);
}

template <class T>
void copy(void*, void* to, const void* from, size_t count) {
  auto* const target = static_cast<T*>(to);
  const auto* const source = static_cast<const T*>(from);
  for (size_t n = 0; n < count; ++n) {
    std::memcpy(&target[n].value, &source[n].value, sizeof source[n].value);
    std::memcpy(&target[n].index, &source[n].index, sizeof source[n].index);
  }
}

// In the order of Rule.
template <class T>
constexpr std::array<Reduce*, kRules> reductions() {
  if constexpr (std::is_integral_v<T>)
    return {reduce<kMax, T>,  reduce<kMin, T>, reduce<kSum, T>, reduce<kProd, T>, reduce<kLand, T>,
            reduce<kBand, T>, reduce<kLor, T>, reduce<kBor, T>, reduce<kLxor, T>, reduce<kBxor, T>};
  else if constexpr (std::is_floating_point_v<T>)  // logical ones: as MPICH has them
    return {reduce<kMax, T>, reduce<kMin, T>, reduce<kSum, T>, reduce<kProd, T>, reduce<kLand, T>,
            nullptr,         reduce<kLor, T>, nullptr,         reduce<kLxor, T>};
  else if constexpr (is_complex<T>)
    return {nullptr, nullptr, reduce<kSum, T>, reduce<kProd, T>};
  else if constexpr (is_logical<T>)
    return {nullptr,
            nullptr,
            nullptr,
            nullptr,
            reduce<kLogicalAnd, T>,
            nullptr,
            reduce<kLogicalOr, T>,
            nullptr,
            reduce<kLogicalXor, T>};
  else if constexpr (is_located<T>)
    return {nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            reduce<kMaxloc, T>,
            reduce<kMinloc, T>};
  else
    return {nullptr, nullptr,
            nullptr, nullptr,
            nullptr, reduce<kBand, uint8_t>,
            nullptr, reduce<kBor, uint8_t>,
            nullptr, reduce<kBxor, uint8_t>};
}

template <class T>
constexpr Items make_items() {
  if constexpr (is_located<T>) {
    constexpr size_t end = offsetof(T, index) + sizeof(T::index);
    constexpr bool has_gaps = sizeof(T::value) + sizeof(T::index) != sizeof(T);
    return {reductions<T>(), sizeof(T), end, has_gaps ? copy<T> : nullptr};
  } else {
    return {reductions<T>(), sizeof(T), sizeof(T), nullptr};
  }
}

}  // namespace

template <class T>
const Items& items_of() {
  static constexpr Items items = make_items<T>();
  return items;
}

template const Items& items_of<int8_t>();
template const Items& items_of<int16_t>();
template const Items& items_of<int32_t>();
template const Items& items_of<int64_t>();
template const Items& items_of<uint8_t>();
template const Items& items_of<uint16_t>();
template const Items& items_of<uint32_t>();
template const Items& items_of<uint64_t>();
template const Items& items_of<float>();
template const Items& items_of<double>();
template const Items& items_of<long double>();
template const Items& items_of<Complex<float>>();
template const Items& items_of<Complex<double>>();
template const Items& items_of<Complex<long double>>();
template const Items& items_of<Byte>();
template const Items& items_of<Logical<uint8_t>>();
template const Items& items_of<Logical<int32_t>>();
template const Items& items_of<Located<float, int>>();
template const Items& items_of<Located<double, int>>();
template const Items& items_of<Located<long, int>>();
template const Items& items_of<Located<int, int>>();
template const Items& items_of<Located<short, int>>();
template const Items& items_of<Located<long double, int>>();
template const Items& items_of<Located<float, float>>();
template const Items& items_of<Located<double, double>>();

}  // namespace nagaya::mpi
