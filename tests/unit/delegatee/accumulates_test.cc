// SPDX-License-Identifier: BSD-3-Clause
// Accumulates and compare-and-swaps on memory of another node.
#include <numeric>
#include <random>

#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

class Accumulates : public ::testing::Test {
 protected:
  static constexpr size_t kBytes = 1 << 17;

  explicit Accumulates(const Options& options = {}, const fabric::FaultPlan& plan = {})
      : remote(pattern(kBytes, 1)), fleet(2, options, plan) {
    region = fleet[1].regions.add(3, remote.data(), remote.size());
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  }
  Place at(uint64_t offset) const { return {1, 3, region, offset}; }

  Bytes remote;
  Fleet fleet;  // after what it works on
  uint32_t region;
};

std::vector<int64_t> values_from(int64_t first, size_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(Accumulates, OfManyPortionsChangeEveryElementOnceAndTellItsValueFromBefore) {
  fleet.start();
  const auto old = values_from(1000, 10000), added = values_from(1, 10000);
  std::vector<int64_t> before(10000), after(10000);
  std::memcpy(&remote[24], old.data(), 80000);
  ASSERT_EQ(run(accumulate_of(at(24), {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 10000, nullptr,
                                       nullptr, added.data(), before.data()})),
            0);
  std::memcpy(after.data(), &remote[24], 80000);
  EXPECT_EQ(before, old);
  for (size_t n = 0; n < 10000; ++n) ASSERT_EQ(after[n], old[n] + added[n]) << n;
}

TEST_F(Accumulates, CompareAndSwapWordsOfEverySizeAtAnyAddress) {
  fleet.start();
  for (const size_t bytes : {1, 2, 4, 8})
    for (const bool differs : {false, true}) {
      Bytes expected_memory = remote;
      uint64_t old = 0, before = 0;
      std::memcpy(&old, &remote[3], bytes);
      const uint64_t desired = ~old, expected = differs ? old + 1 : old;
      if (!differs) std::memcpy(&expected_memory[3], &desired, bytes);
      ASSERT_EQ(run(compare_swap_of(at(3), bytes, expected, desired, &before)), 0);
      EXPECT_EQ(before, old);
      EXPECT_TRUE(remote == expected_memory) << bytes;
    }
}

}  // namespace
}  // namespace nagaya::delegatee
