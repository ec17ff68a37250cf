// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fleet.h"
#include "delegatee/variant.h"

namespace nagaya::delegatee {
namespace {

constexpr size_t kSizes[] = {0, 1, 31, 32, 33, 4095, 4096, 4097, 1 << 20};

class Transfer : public ::testing::TestWithParam<Variant> {
 protected:
  Transfer()
      : remote(pattern(kBytes, 1)),
        fleet(GetParam().backend.open(2), {.notification = GetParam().notification}) {
    region = fleet[1].regions.add(3, remote.data(), remote.size());
    fleet.start();
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  }
  Place at(uint64_t offset) const { return {1, 3, region, offset}; }

  static constexpr size_t kBytes = (1 << 20) + 100;
  Bytes remote;
  Fleet fleet;  // after what it works on
  uint32_t region;
};

INSTANTIATE_TEST_SUITE_P(Over, Transfer, ::testing::ValuesIn(kVariants), name_of);

TEST_P(Transfer, GetBringsExactlyTheBytesOfEverySize) {
  for (const size_t bytes : kSizes) {
    Bytes local(bytes + 2);
    ASSERT_EQ(run(transfer(Op::kGet, at(17), local.data() + 1, bytes)), 0) << bytes;
    EXPECT_TRUE(std::equal(local.begin() + 1, local.end() - 1, remote.begin() + 17)) << bytes;
    EXPECT_EQ(local.front(), std::byte{});
    EXPECT_EQ(local.back(), std::byte{});
  }
}

TEST_P(Transfer, PutChangesExactlyTheBytesOfEverySize) {
  for (const size_t bytes : kSizes) {
    Bytes local = pattern(bytes, 99), expected = remote;
    std::copy(local.begin(), local.end(), expected.begin() + 50);
    ASSERT_EQ(run(transfer(Op::kPut, at(50), local.data(), bytes)), 0) << bytes;
    EXPECT_TRUE(remote == expected) << bytes;
  }
}

TEST_P(Transfer, EverySizeAboutTheRoomOfABatchArrives) {
  uint64_t told = 0;
  Fleet roomy(GetParam().backend.open(2),
              {.notification = GetParam().notification, .small_max_bytes = SIZE_MAX});
  const uint32_t number = roomy[1].regions.add(3, remote.data(), remote.size());
  const uint32_t counter =
      roomy[1].regions.add(3, reinterpret_cast<std::byte*>(&told), sizeof told);
  roomy.start();
  const size_t room_bytes = roomy[0].fabric->message_max_bytes();
  for (size_t bytes = room_bytes - 128; bytes <= room_bytes + 1; ++bytes) {
    Bytes local(bytes);
    Flag got, put, notified;
    roomy[0].push(0, flagged(transfer(Op::kGet, {1, 3, number, 17}, local.data(), bytes), got));
    ASSERT_EQ(got.wait(), 0) << bytes;
    EXPECT_TRUE(std::equal(local.begin(), local.end(), remote.begin() + 17)) << bytes;
    local = pattern(bytes, static_cast<uint32_t>(bytes));
    roomy[0].push(0, flagged(transfer(Op::kPut, {1, 3, number, 17}, local.data(), bytes), put));
    ASSERT_EQ(put.wait(), 0) << bytes;
    EXPECT_TRUE(std::equal(local.begin(), local.end(), remote.begin() + 17)) << bytes;
    local = pattern(bytes, static_cast<uint32_t>(bytes + 1));
    const Place place{1, 3, number, 17};
    roomy[0].push(0, flagged(put_notify(place, local.data(), bytes, {1, 3, counter}), notified));
    ASSERT_EQ(notified.wait(), 0) << bytes;
    EXPECT_TRUE(std::equal(local.begin(), local.end(), remote.begin() + 17)) << bytes;
  }
  EXPECT_EQ(told, 130u);
}

TEST_P(Transfer, PutTakesItsBytesFromTheCommandItself) {
  for (const size_t bytes : {1, 31, 32}) {
    const Bytes local = pattern(bytes, 5);
    ASSERT_EQ(run(with_payload(Op::kPut, at(9), local.data(), bytes)), 0);
    EXPECT_TRUE(std::equal(local.begin(), local.end(), remote.begin() + 9)) << bytes;
  }
}

// Tasks use the memory of their node themselves.
TEST_P(Transfer, ANodeAsksNothingOfItself) {
  Bytes own = pattern(10000, 3), local(10000);
  const uint32_t number = fleet[0].regions.add(5, own.data(), own.size());
  for (const size_t bytes : {100, 10000})
    EXPECT_EQ(run(transfer(Op::kGet, {0, 5, number}, local.data(), bytes)), -EINVAL);
  EXPECT_TRUE(local == Bytes(10000));
}

TEST_P(Transfer, WhatDoesNotLieInARegionIsAnErrorAndTouchesNothing) {
  const Bytes before = remote;
  Bytes local(1 << 20, std::byte{0x55});
  const Bytes untouched = local;
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{4097}})
    for (const Op op : {Op::kGet, Op::kPut}) {
      EXPECT_EQ(run(transfer(op, at(kBytes - bytes + 1), local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, at(UINT64_MAX - 1), local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, at(uint64_t{1} << 63), local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, {1, 3, 12345}, local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, {1, 4, 12345}, local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, {2, 3, region}, local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, {UINT32_MAX, 3, region}, local.data(), bytes)), -EINVAL);
      EXPECT_EQ(run(transfer(op, at(0), local.data(), UINT64_MAX)), -EINVAL);
      EXPECT_EQ(run(transfer(op, at(0), nullptr, bytes)), -EINVAL);
    }
  EXPECT_TRUE(remote == before);
  EXPECT_TRUE(local == untouched);
}

TEST_P(Transfer, ACommandThatMakesNoSenseIsAnErrorOfItsOwn) {
  Bytes local(8);
  Command unknown = transfer(Op::kGet, at(0), local.data(), 8);
  unknown.op = static_cast<Op>(77);
  EXPECT_EQ(run(unknown), -EINVAL);
  Command get_inline = with_payload(Op::kGet, at(0), local.data(), 8);
  EXPECT_EQ(run(get_inline), -EINVAL);
  Command too_long = with_payload(Op::kPut, at(0), local.data(), 8);
  too_long.inline_bytes = 33;
  EXPECT_EQ(run(too_long), -EINVAL);
  EXPECT_EQ(run(transfer(Op::kGet, at(0), local.data(), 8)), 0);
}

TEST_P(Transfer, AnEndedRegionIsUnknownEvenWhenItWasUsedBefore) {
  Bytes local(100000);
  EXPECT_EQ(run(transfer(Op::kGet, at(0), local.data(), 100)), 0);
  EXPECT_EQ(run(transfer(Op::kGet, at(0), local.data(), 100000)), 0);
  fleet[1].regions.end(3, region);
  EXPECT_EQ(run(transfer(Op::kGet, at(0), local.data(), 100)), -EINVAL);
  EXPECT_EQ(run(transfer(Op::kPut, at(0), local.data(), 100)), -EINVAL);
  EXPECT_EQ(run(transfer(Op::kGet, at(0), local.data(), 100000)), -EINVAL);
  EXPECT_EQ(run(transfer(Op::kPut, at(0), local.data(), 100000)), -EINVAL);
}

TEST_P(Transfer, RequestsAreCountedByTheirKindUnlessTheyAreWrong) {
  Bytes local(100000);
  ASSERT_EQ(run(transfer(Op::kGet, at(0), local.data(), 8)), 0);
  ASSERT_EQ(run(transfer(Op::kPut, at(0), local.data(), 8)), 0);
  ASSERT_EQ(run(transfer(Op::kPut, at(0), local.data(), local.size())), 0);
  Command unknown = transfer(Op::kGet, at(0), local.data(), 8);
  unknown.op = static_cast<Op>(77);
  ASSERT_EQ(run(unknown), -EINVAL);
  EXPECT_EQ(fleet[0].delegatee.requests(Op::kGet), 1u);
  EXPECT_EQ(fleet[0].delegatee.requests(Op::kPut), 2u);
  EXPECT_EQ(fleet[0].delegatee.requests(Op::kAtomic), 0u);
  EXPECT_EQ(fleet[1].delegatee.requests(Op::kPut), 0u);
}

TEST_P(Transfer, OneQuestionForARegionServesAllLaterTransfers) {
  Bytes local(1 << 16);
  ASSERT_EQ(run(transfer(Op::kGet, at(0), local.data(), local.size())), 0);
  const uint64_t before = fleet[0].delegatee.batches();
  for (int n = 0; n < 20; ++n)
    ASSERT_EQ(run(transfer(Op::kPut, at(0), local.data(), local.size())), 0);
  EXPECT_EQ(fleet[0].delegatee.batches(), before);
}

TEST_P(Transfer, AnEndedRegionIsForgottenByThoseWhoKnewIt) {
  Bytes local(1 << 16);
  ASSERT_EQ(run(transfer(Op::kGet, at(0), local.data(), local.size())), 0);
  const uint64_t before = fleet[1].delegatee.batches();
  fleet[1].regions.end(3, region);
  fleet[1].delegatee.abandon(7);  // any event that wakes it
  EXPECT_TRUE(soon([&] { return fleet[1].delegatee.batches() == before + 1; }));
}

TEST_P(Transfer, ACompletionWakesItsTask) {
  Bytes local(8);
  ASSERT_EQ(run(transfer(Op::kGet, at(0), local.data(), 8)), 0);
  EXPECT_TRUE(soon([&] { return fleet[0].delivery.wakes[0].load() == 1; }));
}

TEST_P(Transfer, CallbacksArriveOncePerCommandEvenThroughAFullMailbox) {
  fleet[0].delivery.set_room(3);
  Bytes local(8);
  for (uint64_t n = 1; n <= 100; ++n) {
    Command get = transfer(Op::kGet, n % 2 ? at(0) : Place{1, 3, 99999}, local.data(), 8);
    get.completion_kind = Completion::kCallback;
    get.completion = n;
    fleet[0].push(2, get);
  }
  std::vector<std::pair<uint64_t, int>> all;
  ASSERT_TRUE(soon([&] {
    for (const auto& completion : fleet[0].delivery.take_completions(2)) all.push_back(completion);
    return all.size() >= 100;
  }));
  std::sort(all.begin(), all.end());
  for (uint64_t n = 1; n <= 100; ++n) EXPECT_EQ(all[n - 1], std::make_pair(n, n % 2 ? 0 : -EINVAL));
}

TEST_P(Transfer, AFullMailboxHoldsUpNoCallbackOfAnotherTask) {
  fleet[0].delivery.set_room(1);
  Bytes local(8);
  for (const uint32_t task : {2, 4}) {
    Command get = transfer(Op::kGet, at(0), local.data(), 8);
    get.completion_kind = Completion::kCallback;
    for (get.completion = 1; get.completion <= 2; ++get.completion) fleet[0].push(task, get);
    ASSERT_EQ(run(transfer(Op::kGet, at(0), local.data(), 8)), 0);  // after them
  }
  for (uint64_t n = 1; n <= 2; ++n) {
    std::vector<std::pair<uint64_t, int>> taken;
    ASSERT_TRUE(soon([&] { return !(taken = fleet[0].delivery.take_completions(4)).empty(); }));
    EXPECT_EQ(taken[0], std::make_pair(n, 0));
  }
}

}  // namespace
}  // namespace nagaya::delegatee
