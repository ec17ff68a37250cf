// SPDX-License-Identifier: BSD-3-Clause
// How long a region stays registered with the fabric: any program that reaches the node and knows
// its key can use it as long.
#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

constexpr size_t kBytes = 100000;  // more than travels in a batch
constexpr uint32_t kIdleMs = 100;

class RegistrationTest : public testing::Test {
 protected:
  RegistrationTest() : fleet(3, Options{.region_idle_ms = kIdleMs}) {
    region = fleet[2].regions.add(5, memory.data(), memory.size());
    fleet.start();
  }
  int get(uint32_t node) {
    Flag flag;
    fleet[node].push(0, flagged(transfer(Op::kGet, {2, 5, region}, local.data(), kBytes), flag));
    return flag.wait();
  }
  size_t registered() { return fleet.network.registered(2); }

  Fleet fleet;
  Bytes memory = pattern(kBytes, 1), local = Bytes(kBytes);
  uint32_t region;
};

TEST_F(RegistrationTest, EndsWhenNobodyUsedTheRegionForAWhile) {
  for (int n = 0; n < 3; ++n) {
    std::fill(local.begin(), local.end(), std::byte{});
    ASSERT_EQ(get(0), 0);
    EXPECT_TRUE(local == memory);
    EXPECT_TRUE(soon([&] { return registered() == 0; }));
  }
}

TEST_F(RegistrationTest, LastsAsLongAsOneNodeUsesTheRegion) {
  ASSERT_EQ(get(0), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5 * kIdleMs);
  int looks = 0;
  for (auto now = std::chrono::steady_clock::now(); now < end;
       now = std::chrono::steady_clock::now()) {
    ASSERT_EQ(get(1), 0);
    const size_t count = registered();
    // Unless this thread was away for so long.
    if (std::chrono::steady_clock::now() - now < std::chrono::milliseconds(kIdleMs)) {
      ASSERT_EQ(count, 1u);
      ++looks;
    }
  }
  EXPECT_GT(looks, 0);
  EXPECT_TRUE(soon([&] { return registered() == 0; }));
}

TEST_F(RegistrationTest, EndsWhenTheOnlyNodeThatUsedTheRegionHasFailed) {
  ASSERT_EQ(get(0), 0);
  fleet[0].stop();  // it tells nobody that it uses the region no longer
  ASSERT_EQ(registered(), 1u);
  fleet.network.cut_link(0, 2);
  Flag flag;  // node 2 notices when it wants something
  fleet[2].push(0, flagged(with_payload(Op::kPut, {0, 0, 1}, "x", 1), flag));
  EXPECT_EQ(flag.wait(), -ECONNRESET);
  EXPECT_TRUE(soon([&] { return registered() == 0; }));
}

}  // namespace
}  // namespace nagaya::delegatee
