// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/apply_atomic.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace nagaya::llcl {
namespace {

template <class T>
uint64_t bytes_of(T value) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, &value, sizeof value);
  return bytes;
}

template <class T>
struct Case {
  Atomic atomic;
  T before, operand, expected, after;
};

template <class T>
void check(Type type, const std::vector<Case<T>>& cases) {
  for (const auto& [atomic, before, operand, expected, after] : cases) {
    alignas(8) T words[2] = {before, 77};
    const uint64_t old = apply_atomic(words, atomic, type, bytes_of(operand), bytes_of(expected));
    EXPECT_EQ(old, bytes_of(before)) << static_cast<int>(atomic);
    EXPECT_EQ(words[0], after) << static_cast<int>(atomic);
    EXPECT_EQ(words[1], 77) << "the word beside";
  }
}

template <class T>
void check_integer(Type type) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  check<T>(type, {{Atomic::kAdd, 3, 4, 0, 7},
                  {Atomic::kAdd, kMost, 1, 0, kLeast},
                  {Atomic::kSwap, 3, 4, 0, 4},
                  {Atomic::kCompareSwap, 3, 4, 3, 4},
                  {Atomic::kCompareSwap, 3, 4, 5, 3},
                  {Atomic::kAnd, 12, 10, 0, 8},
                  {Atomic::kOr, 12, 10, 0, 14},
                  {Atomic::kXor, 12, 10, 0, 6},
                  {Atomic::kMin, 3, kLeast, 0, kLeast},
                  {Atomic::kMin, kLeast, 3, 0, kLeast},
                  {Atomic::kMax, 3, kMost, 0, kMost},
                  {Atomic::kMax, kMost, 3, 0, kMost}});
}

template <class T>
void check_floating(Type type) {
  check<T>(type, {{Atomic::kAdd, 1.5, 2.25, 0, 3.75},
                  {Atomic::kSwap, 1.5, -2, 0, -2},
                  {Atomic::kCompareSwap, 1.5, 4, 1.5, 4},
                  {Atomic::kCompareSwap, 1.5, 4, 2, 1.5},
                  {Atomic::kMin, 1.5, -2, 0, -2},
                  {Atomic::kMax, 1.5, -2, 0, 1.5}});
}

TEST(ApplyAtomic, DoesEveryOperationOnEveryTypeAndTouchesOneWord) {
  check_integer<int32_t>(Type::kInt32);
  check_integer<int64_t>(Type::kInt64);
  check_integer<uint32_t>(Type::kUint32);
  check_integer<uint64_t>(Type::kUint64);
  check_floating<float>(Type::kFloat);
  check_floating<double>(Type::kDouble);
}

TEST(ApplyAtomic, HasNoBitwiseOperationsOnFloatingTypesAndNoUnknownOnes) {
  EXPECT_FALSE(is_defined(Atomic::kXor, Type::kDouble));
  EXPECT_FALSE(is_defined(Atomic::kAnd, Type::kFloat));
  EXPECT_TRUE(is_defined(Atomic::kOr, Type::kInt32));
  EXPECT_TRUE(is_defined(Atomic::kMax, Type::kDouble));
  EXPECT_FALSE(is_defined(static_cast<Atomic>(8), Type::kInt32));
  EXPECT_FALSE(is_defined(Atomic::kAdd, static_cast<Type>(6)));
}

TEST(ApplyAtomic, LosesNoneOfManyThreadsAdditionsBesideAStdAtomic) {
  constexpr int kThreads = 3, kRounds = 50000;
  std::atomic<uint64_t> whole{0};
  alignas(8) double real = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        apply_atomic(&whole, Atomic::kAdd, Type::kUint64, 1, 0);
        apply_atomic(&real, Atomic::kAdd, Type::kDouble, bytes_of(0.5), 0);
      }
    });
  for (int round = 0; round < kRounds; ++round) whole.fetch_add(1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, (kThreads + 1) * kRounds);
  EXPECT_EQ(real, kThreads * kRounds * 0.5);
}

}  // namespace
}  // namespace nagaya::llcl
