// SPDX-License-Identifier: BSD-3-Clause
// loops.cc - loops that the compiler vectorizes (-O3). Compiled once for each table of loops.h.
// All functions are local to the file: of an inline function that both objects define the linker
// keeps one, perhaps that for wide vectors.
#include "reduction/loops.h"

#include <cstring>
#include <type_traits>

namespace nagaya::reduction {
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
template <class T>
constexpr bool has_gaps = false;
template <class Value, class Index>
constexpr bool has_gaps<Located<Value, Index>> = sizeof(Value) + sizeof(Index) !=
                                                 sizeof(Located<Value, Index>);

// ---- the operations: a is of `in`, in MPI of the lower ranks ---------------------------------

// Integers wrap on overflow. Shorter ones are computed as unsigned: uint16_t times itself is an int
// in C++.
template <class T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

constexpr auto kMax = []<class T>(T a, T b) -> T { return b < a ? a : b; };
constexpr auto kMin = []<class T>(T a, T b) -> T { return a < b ? a : b; };
constexpr auto kSum = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else if constexpr (is_complex<T>)
    return {a.re + b.re, a.im + b.im};
  else
    return a + b;
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

// Two equal values give the lower index.
constexpr auto kMaxloc = []<class T>(T a, T b) -> T {
  return b.value < a.value || (a.value == b.value && a.index < b.index) ? a : b;
};
constexpr auto kMinloc = []<class T>(T a, T b) -> T {
  return a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b;
};

constexpr auto kReplace = []<class T>(T a, T) -> T { return a; };

// ---- all of a type ---------------------------------------------------------------------------

// An element at any address.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Unaligned {
  T element;
};

template <class T>
void store(Unaligned<T>& to, T from) {
  if constexpr (is_located<T>) {
    to.element.value = from.value;
    to.element.index = from.index;
  } else {
    to.element = from;
  }
}

template <auto operation, class T>
void reduce(void*, const void* in, void* inout, size_t count) {
  const auto* const __restrict from = static_cast<const Unaligned<T>*>(in);
  auto* const __restrict to = static_cast<Unaligned<T>*>(inout);
  for (size_t n = 0; n < count; ++n) store<T>(to[n], operation(from[n].element, to[n].element));
}

template <class T>
void replace(void*, const void* in, void* inout, size_t count) {
  if constexpr (has_gaps<T>)
    reduce<kReplace, T>(nullptr, in, inout, count);
  else if (count != 0)
    std::memcpy(inout, in, count * sizeof(T));
}

void keep(void*, const void*, void*, size_t) {}

template <class T>
void copy(void*, void* to, const void* from, size_t count) {
  replace<T>(nullptr, from, to, count);
}

using Reductions = std::array<Reduce*, kReductions>;

template <class T>
constexpr void add_arithmetic(Reductions& all) {
  all[NAGAYA_REDUCE_SUM] = reduce<kSum, T>;
  all[NAGAYA_REDUCE_PROD] = reduce<kProd, T>;
}
// Numbers that are not complex. MPICH defines the logical operations of floating-point numbers.
template <class T>
constexpr void add_ordered(Reductions& all) {
  all[NAGAYA_REDUCE_MAX] = reduce<kMax, T>;
  all[NAGAYA_REDUCE_MIN] = reduce<kMin, T>;
  all[NAGAYA_REDUCE_LAND] = reduce<kLand, T>;
  all[NAGAYA_REDUCE_LOR] = reduce<kLor, T>;
  all[NAGAYA_REDUCE_LXOR] = reduce<kLxor, T>;
}
template <class T>
constexpr void add_bitwise(Reductions& all) {
  all[NAGAYA_REDUCE_BAND] = reduce<kBand, T>;
  all[NAGAYA_REDUCE_BOR] = reduce<kBor, T>;
  all[NAGAYA_REDUCE_BXOR] = reduce<kBxor, T>;
}

template <class T>
constexpr Reductions reductions() {
  Reductions all{};
  if constexpr (std::is_arithmetic_v<T> || is_complex<T>) add_arithmetic<T>(all);
  if constexpr (std::is_arithmetic_v<T>) add_ordered<T>(all);
  if constexpr (std::is_integral_v<T>) add_bitwise<T>(all);
  if constexpr (std::is_same_v<T, Byte>) add_bitwise<uint8_t>(all);
  if constexpr (is_logical<T>) {
    all[NAGAYA_REDUCE_LAND] = reduce<kLogicalAnd, T>;
    all[NAGAYA_REDUCE_LOR] = reduce<kLogicalOr, T>;
    all[NAGAYA_REDUCE_LXOR] = reduce<kLogicalXor, T>;
  }
  if constexpr (is_located<T>) {
    all[NAGAYA_REDUCE_MAXLOC] = reduce<kMaxloc, T>;
    all[NAGAYA_REDUCE_MINLOC] = reduce<kMinloc, T>;
  }
  all[NAGAYA_REDUCE_REPLACE] = replace<T>;
  all[NAGAYA_REDUCE_NO_OP] = keep;
  return all;
}

template <class T>
constexpr Elements elements() {
  static_assert(std::has_single_bit(sizeof(T)));
  if constexpr (is_located<T>) {
    constexpr size_t end = offsetof(T, index) + sizeof(T::index);
    return {reductions<T>(), sizeof(T), end, has_gaps<T> ? copy<T> : nullptr};
  } else {
    return {reductions<T>(), sizeof(T), sizeof(T), nullptr};
  }
}

}  // namespace

constexpr Loops NAGAYA_LOOPS = {
    elements<int8_t>(),
    elements<int16_t>(),
    elements<int32_t>(),
    elements<int64_t>(),
    elements<uint8_t>(),
    elements<uint16_t>(),
    elements<uint32_t>(),
    elements<uint64_t>(),
    elements<float>(),
    elements<double>(),
    elements<long double>(),
    elements<Complex<float>>(),
    elements<Complex<double>>(),
    elements<Complex<long double>>(),
    elements<Byte>(),
    elements<Logical<uint8_t>>(),
    elements<Logical<int32_t>>(),
    elements<Located<float, int>>(),
    elements<Located<double, int>>(),
    elements<Located<long, int>>(),
    elements<Located<int, int>>(),
    elements<Located<short, int>>(),
    elements<Located<long double, int>>(),
    elements<Located<float, float>>(),
    elements<Located<double, double>>(),
};

}  // namespace nagaya::reduction
