// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fleet.h"
#include "delegatee/variant.h"

namespace nagaya::delegatee {
namespace {

class PutNotify : public ::testing::TestWithParam<Variant> {
 protected:
  PutNotify()
      : memory(1 << 17),
        fleet(GetParam().backend.open(2), {.notification = GetParam().notification}) {
    region = fleet[1].regions.add(3, memory.data(), memory.size());
    counters = fleet[1].regions.add(3, reinterpret_cast<std::byte*>(counter), sizeof counter);
    fleet.start();
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  }
  Place at(uint64_t offset) const { return {1, 3, region, offset}; }
  Place in_counters(uint64_t offset) const { return {1, 3, counters, offset}; }

  Bytes memory;
  uint64_t counter[2] = {};
  Fleet fleet;  // after what it works on
  uint32_t region, counters;
};

INSTANTIATE_TEST_SUITE_P(Over, PutNotify, ::testing::ValuesIn(kVariants), name_of);

TEST_P(PutNotify, WritesThenCountsThenWakesTheTask) {
  uint64_t times = 0;
  for (const size_t bytes : {0, 1, 8, 4096, 4097, 100000}) {
    const Bytes local = pattern(bytes, 7);
    Bytes expected = memory;
    std::copy(local.begin(), local.end(), expected.begin() + 5);
    ASSERT_EQ(run(put_notify(at(5), local.data(), bytes, in_counters(8))), 0) << bytes;
    EXPECT_TRUE(memory == expected) << bytes;
    EXPECT_EQ(counter[1], ++times);
    EXPECT_EQ(fleet[1].delivery.wakes[3].load(), times);
  }
  EXPECT_EQ(counter[0], 0u);
}

TEST_P(PutNotify, IsWholeAtItsTargetWhenTheCounterSaysSo) {
  bool is_whole = true;
  std::thread target([&] {
    for (uint64_t n = 1; n <= 40; ++n) {
      is_whole &=
          soon([&] { return std::atomic_ref(counter[0]).load(std::memory_order_acquire) == n; });
      const size_t bytes = n % 2 ? 3000 : 30000;
      is_whole &= std::all_of(memory.begin(), memory.begin() + static_cast<ptrdiff_t>(bytes),
                              [&](std::byte byte) { return byte == std::byte(n); });
      std::atomic_ref(counter[1]).store(n, std::memory_order_release);
    }
  });
  for (uint64_t n = 1; n <= 40; ++n) {
    const Bytes local(n % 2 ? 3000 : 30000, std::byte(n));
    EXPECT_EQ(run(put_notify(at(0), local.data(), local.size(), in_counters(0))), 0);
    ASSERT_TRUE(soon([&] { return std::atomic_ref(counter[1]).load() == n; }));
  }
  target.join();
  EXPECT_TRUE(is_whole);
}

TEST_P(PutNotify, WithAWrongCounterIsAnErrorAndASmallOneWritesNothing) {
  const Bytes local = pattern(100000, 1), before = memory;
  for (const Place& wrong : {in_counters(16), in_counters(9), in_counters(4), in_counters(12),
                             in_counters(UINT64_MAX - 3), Place{1, 3, 999}}) {
    EXPECT_EQ(run(put_notify(at(0), local.data(), 8, wrong)), -EINVAL) << wrong.offset;
    EXPECT_TRUE(memory == before);
    EXPECT_EQ(run(put_notify(at(50000), local.data(), 50000, wrong)), -EINVAL) << wrong.offset;
    std::copy(before.begin(), before.end(), memory.begin());
  }
  Command far = put_notify(at(0), local.data(), 8, in_counters(0));
  far.data.block.counter_region |= uint64_t{1} << 32;
  EXPECT_EQ(run(far), -EINVAL);
  EXPECT_TRUE(memory == before);
  EXPECT_EQ(counter[0] + counter[1], 0u);
  EXPECT_EQ(fleet[1].delivery.wakes[3].load(), 0u);
}

TEST_P(PutNotify, OutsideOfItsRegionCountsNothing) {
  const Bytes local(100000);
  for (const size_t bytes : {size_t{8}, local.size()}) {
    EXPECT_EQ(run(put_notify(at(memory.size() - bytes + 1), local.data(), bytes, in_counters(0))),
              -EINVAL);
    EXPECT_EQ(run(put_notify({1, 3, 999}, local.data(), bytes, in_counters(0))), -EINVAL);
    EXPECT_EQ(run(put_notify(at(0), nullptr, bytes, in_counters(0))), -EINVAL);
  }
  Command in_command = put_notify(at(0), local.data(), 8, in_counters(0));
  in_command.inline_bytes = 8;
  EXPECT_EQ(run(in_command), -EINVAL);
  EXPECT_EQ(counter[0], 0u);
}

TEST(PutNotifyByHand, OfLittleDataIsOneMessageAndOneAnswer) {
  Fleet fleet(2);
  Bytes memory(4096);
  uint64_t counter = 0;
  const uint32_t region = fleet[1].regions.add(0, memory.data(), memory.size());
  const uint32_t other = fleet[1].regions.add(0, reinterpret_cast<std::byte*>(&counter), 8);
  const Bytes local(memory.size());
  Flag flag;
  fleet[0].push(
      0, flagged(put_notify({1, 0, region}, local.data(), local.size(), {1, 0, other}), flag));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(flag.now(), 1);
  EXPECT_EQ(counter, 1u);
  EXPECT_EQ(fleet[0].delegatee.batches(), 1u);
  EXPECT_EQ(fleet[1].delegatee.batches(), 1u);
}

}  // namespace
}  // namespace nagaya::delegatee
