// SPDX-License-Identifier: BSD-3-Clause
// apply_atomic.h - carries out a remote atomic by the processor's own atomic instructions, in
// whichever process can reach the word: the requester on its own node, else the target's delegatee.
// So all of them, and the program's own atomics, exclude each other.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "llcl/board/command.h"

namespace nagaya::llcl {

constexpr size_t size_of(Type type) {
  return type == Type::kInt32 || type == Type::kUint32 || type == Type::kFloat ? 4 : 8;
}

constexpr bool is_defined(Atomic atomic, Type type) {
  const bool bitwise = atomic == Atomic::kAnd || atomic == Atomic::kOr || atomic == Atomic::kXor;
  const bool floating = type == Type::kFloat || type == Type::kDouble;
  return atomic <= Atomic::kMax && type <= Type::kDouble && !(bitwise && floating);
}

namespace detail {

template <class T>
T changed(Atomic atomic, T value, T operand) {
  switch (atomic) {
    case Atomic::kAdd:
      return value + operand;
    case Atomic::kMin:
      return operand < value ? operand : value;
    case Atomic::kMax:
      return value < operand ? operand : value;
    default:
      return operand;
  }
}

// Returns the value from before. Sequentially consistent, as a std::atomic of the program is by
// default.
template <class T>
T apply(std::atomic_ref<T> word, Atomic atomic, T operand, T expected) {
  if constexpr (std::is_integral_v<T>) switch (atomic) {
      case Atomic::kAdd:
        return word.fetch_add(operand);
      case Atomic::kAnd:
        return word.fetch_and(operand);
      case Atomic::kOr:
        return word.fetch_or(operand);
      case Atomic::kXor:
        return word.fetch_xor(operand);
      default:
        break;
    }
  if (atomic == Atomic::kSwap) return word.exchange(operand);
  if (atomic == Atomic::kCompareSwap) {
    word.compare_exchange_strong(expected, operand);
    return expected;
  }
  T before = word.load();
  while (!word.compare_exchange_weak(before, changed(atomic, before, operand))) continue;
  return before;
}

template <class T>
T value_of(uint64_t bytes) {
  T value;
  std::memcpy(&value, &bytes, sizeof value);
  return value;
}

template <class T>
uint64_t apply_to(void* word, Atomic atomic, uint64_t operand, uint64_t expected) {
  const T before = apply(std::atomic_ref<T>(*static_cast<T*>(word)), atomic, value_of<T>(operand),
                         value_of<T>(expected));
  uint64_t bytes = 0;
  std::memcpy(&bytes, &before, sizeof before);
  return bytes;
}

}  // namespace detail

// Applies `atomic` to `word`, which is aligned to its size; is_defined(atomic, type) holds. Returns
// the word's value from before, in the low bytes.
inline uint64_t apply_atomic(void* word, Atomic atomic, Type type, uint64_t operand,
                             uint64_t expected) {
  switch (type) {
    case Type::kInt32:
      return detail::apply_to<int32_t>(word, atomic, operand, expected);
    case Type::kInt64:
      return detail::apply_to<int64_t>(word, atomic, operand, expected);
    case Type::kUint32:
      return detail::apply_to<uint32_t>(word, atomic, operand, expected);
    case Type::kUint64:
      return detail::apply_to<uint64_t>(word, atomic, operand, expected);
    case Type::kFloat:
      return detail::apply_to<float>(word, atomic, operand, expected);
    case Type::kDouble:
      break;
  }
  return detail::apply_to<double>(word, atomic, operand, expected);
}

}  // namespace nagaya::llcl
