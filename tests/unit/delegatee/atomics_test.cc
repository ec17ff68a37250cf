// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <random>

#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

using llcl::Atomic;
using llcl::Type;

constexpr Atomic kAll[] = {Atomic::kAdd, Atomic::kSwap, Atomic::kCompareSwap, Atomic::kAnd,
                           Atomic::kOr,  Atomic::kXor,  Atomic::kMin,         Atomic::kMax};

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
constexpr Type kType = std::is_same_v<T, int32_t>    ? Type::kInt32
                       : std::is_same_v<T, int64_t>  ? Type::kInt64
                       : std::is_same_v<T, uint32_t> ? Type::kUint32
                       : std::is_same_v<T, uint64_t> ? Type::kUint64
                       : std::is_same_v<T, float>    ? Type::kFloat
                                                     : Type::kDouble;

// The meaning of the operation, said in another way than the code under test says it.
template <class T>
T expected_after(Atomic operation, T before, T operand, T expected) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (operation == Atomic::kAdd)
      return static_cast<T>(static_cast<U>(before) + static_cast<U>(operand));
    if (operation == Atomic::kAnd) return static_cast<T>(before & operand);
    if (operation == Atomic::kOr) return static_cast<T>(before | operand);
    if (operation == Atomic::kXor) return static_cast<T>(before ^ operand);
  }
  if (operation == Atomic::kAdd) return before + operand;
  if (operation == Atomic::kSwap) return operand;
  if (operation == Atomic::kCompareSwap) return before == expected ? operand : before;
  if (operation == Atomic::kMin) return operand < before ? operand : before;
  return operand > before ? operand : before;
}

template <class T>
class AtomicOf : public ::testing::Test {};
using Types = ::testing::Types<int32_t, int64_t, uint32_t, uint64_t, float, double>;
TYPED_TEST_SUITE(AtomicOf, Types);

TYPED_TEST(AtomicOf, EveryOperationAnswersTheWordBeforeAndLeavesTheRightOne) {
  using T = TypeParam;
  Fleet fleet(2);
  alignas(8) std::byte memory[16];
  const uint32_t region = fleet[1].regions.add(0, memory, sizeof memory);
  fleet.start();
  const T values[] = {
      T(0), T(1), T(-1), T(77), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  for (const Atomic operation : kAll) {
    const bool is_bitwise = operation >= Atomic::kAnd && operation <= Atomic::kXor;
    if (is_bitwise && !std::is_integral_v<T>) continue;
    for (const T before : values)
      for (const T operand : values)
        for (const T expected : {before, T(5)}) {
          std::memset(memory, 0xee, sizeof memory);
          std::memcpy(memory + 8, &before, sizeof before);
          struct {
            T value;
            uint32_t guard = 0x12345678;
          } old{};
          Flag flag;
          fleet[0].push(0, flagged(atomic(operation, kType<T>, {1, 0, region, 8}, &old.value,
                                          bits_of(operand), bits_of(expected)),
                                   flag));
          ASSERT_EQ(flag.wait(), 0);
          ASSERT_EQ(old.value, before);
          ASSERT_EQ(old.guard, 0x12345678u);
          T after;
          std::memcpy(&after, memory + 8, sizeof after);
          ASSERT_EQ(after, expected_after(operation, before, operand, expected))
              << "operation " << static_cast<int>(operation);
          ASSERT_EQ(memory[7], std::byte{0xee});
          if (sizeof(T) == 4) {
            ASSERT_EQ(memory[12], std::byte{0xee});
          }
        }
  }
}

TEST(Atomics, AreAtomicAgainstOtherNodesAndAgainstTheOwnersThreads) {
  constexpr int kEach = 2000;
  constexpr uint32_t kTarget = 4;
  Fleet fleet(kTarget + 1);
  uint64_t word = 0;
  double sum = 0;
  const uint32_t region = fleet[kTarget].regions.add(0, reinterpret_cast<std::byte*>(&word), 8);
  const uint32_t sum_region = fleet[kTarget].regions.add(0, reinterpret_cast<std::byte*>(&sum), 8);
  fleet.start();
  std::vector<std::thread> threads;
  uint64_t done[kTarget] = {};
  for (uint32_t node = 0; node < kTarget; ++node)
    threads.emplace_back([&, node] {
      for (int n = 0; n < kEach; ++n) {
        std::atomic_ref(word).fetch_add(1);
        fleet[node].push(
            0, counted(atomic(Atomic::kAdd, Type::kUint64, {kTarget, 0, region}, nullptr, 1),
                       done[node]));
        fleet[node].push(0, counted(atomic(Atomic::kAdd, Type::kDouble, {kTarget, 0, sum_region},
                                           nullptr, bits_of(0.5)),
                                    done[node]));
      }
      EXPECT_TRUE(soon([&] { return counts(done[node]).first == 2 * kEach; }));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::atomic_ref(word).load(), 8u * kEach);
  EXPECT_EQ(std::atomic_ref(sum).load(), 2.0 * kEach);
}

TEST(Atomics, OfAMisalignedOrForeignWordOrAnUndefinedKindAreErrors) {
  Fleet fleet(2);
  alignas(8) std::byte memory[16] = {};
  const uint32_t region = fleet[1].regions.add(0, memory, sizeof memory);
  fleet.start();
  const auto run = [&](Command command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  };
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint64, {1, 0, region, 4}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint32, {1, 0, region, 2}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint64, {1, 0, region, 16}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint32, {1, 0, region, 13}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint64, {1, 0, 999, 0}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAnd, Type::kFloat, {1, 0, region, 0}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kXor, Type::kDouble, {1, 0, region, 0}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(static_cast<Atomic>(8), Type::kInt32, {1, 0, region}, nullptr, 1)), -EINVAL);
  EXPECT_EQ(run(atomic(Atomic::kAdd, static_cast<Type>(6), {1, 0, region}, nullptr, 1)), -EINVAL);
  EXPECT_TRUE(std::all_of(memory, memory + 16, [](std::byte b) { return b == std::byte{}; }));
  EXPECT_EQ(run(atomic(Atomic::kAdd, Type::kUint32, {1, 0, region, 12}, nullptr, 1)), 0);
}

}  // namespace
}  // namespace nagaya::delegatee
