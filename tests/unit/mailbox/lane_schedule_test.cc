// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving, within a budget, of two producers with a lane each and a consumer that sleeps
// at once; and the same with a producer that stops for ever at any of its steps.
#include <gtest/gtest.h>

#include <iostream>

#include "mailbox/cell.h"
#include "mailbox/schedule.h"
#include "mailbox/waiting.h"

namespace nagaya::mailbox {
namespace {

using schedule::Run;

// A kernel that refuses membarrier.
struct WithoutHeavyFence : schedule::Machine {
  static void heavy_fence() { ADD_FAILURE() << "there is none"; }
  static bool has_heavy_fence() { return false; }
};

constexpr uint64_t kNeverDies = UINT64_MAX;

template <class M>
struct Announcement {
  LaneSet<TestCell, M>& set;

  uint64_t before_sleep() {
    set.before_sleep();
    return kNever;
  }
  void after_sleep() {}
};

template <class M>
class Lanes {
 public:
  void produce(uint32_t producer, uint64_t count) {
    const uint32_t lane = set_->claim(Owner::task(producer, 1));
    for (uint64_t number = 1; number <= count; ++number) {
      if (!set_->push(lane, TestCell::of(producer, number))) failure_ = "a lane was full";
      bell_.ring_after_fence();
    }
    set_->release(lane);
  }
  template <class Enough>
  void consume(Enough enough) {
    BasicWaiting<M> waiting(bell_, load_, kSleepAtOnce);
    while (!enough())
      waiting.until([&] { return drain() != 0 || enough(); }, kNever, Announcement<M>{*set_});
  }
  size_t drain() {
    return set_->drain([&](uint32_t, const TestCell* cells, size_t count) {
      for (size_t n = 0; n < count; ++n) {
        if (!cells[n].whole()) failure_ = "a cell was not whole";
        if (cells[n].number != ++taken_[cells[n].producer]) failure_ = "lost, or twice";
      }
    });
  }
  void reclaim(uint32_t producer) { set_->reclaim(Owner::task(producer, 1)); }

  std::string failure_;
  uint64_t taken_[3] = {};

 private:
  std::unique_ptr<LaneSet<TestCell, M>, Freed> set_ = make_lanes<M>(2);
  BasicDoorbell<M> bell_{};
  Load load_{2, 1};
};

template <class M>
std::string run_once(Run& run, uint64_t first, uint64_t second, uint64_t dies_before, bool& died) {
  Lanes<M> lanes;
  run.add([&] { lanes.produce(1, first); }, dies_before);
  run.add([&] { lanes.produce(2, second); });
  run.add([&] {
    lanes.consume([&] {
      return lanes.taken_[2] == second && (lanes.taken_[1] == first || dies_before != kNeverDies);
    });
  });
  const std::string failure = run.go();
  if (!failure.empty()) return failure;
  died |= run.somebody_died();
  if (run.somebody_died()) {
    lanes.reclaim(1);  // then both lanes are free and empty again
    lanes.taken_[1] = lanes.taken_[2] = 0;
    lanes.produce(1, 3);
    lanes.produce(2, 3);
    while (lanes.drain() != 0) {
    }
    if (lanes.taken_[1] != 3 || lanes.taken_[2] != 3) return "a reclaimed lane is not usable";
  }
  return lanes.failure_;
}

template <class M>
class LaneSchedules : public ::testing::Test {};
using Machines = ::testing::Types<schedule::Machine, WithoutHeavyFence>;
TYPED_TEST_SUITE(LaneSchedules, Machines);

TYPED_TEST(LaneSchedules, LoseNothingDuplicateNothingAndWakeTheConsumer) {
  std::string failure;
  bool died = false;
  const uint64_t runs = schedule::explore(
      2, [&](schedule::Run& run) { return run_once<TypeParam>(run, 2, 1, kNeverDies, died); },
      failure);
  EXPECT_EQ(failure, "") << "in schedule " << runs;
  std::cout << runs << " schedules\n";
}

TYPED_TEST(LaneSchedules, DeathAtAnyStepOfAPushDelaysNobodyElse) {
  uint64_t runs = 0, steps = 0;
  for (bool died = true; died; ++steps) {
    died = false;
    std::string failure;
    runs += schedule::explore(
        1, [&](schedule::Run& run) { return run_once<TypeParam>(run, 2, 2, steps, died); },
        failure);
    ASSERT_EQ(failure, "") << "the producer died before operation " << steps;
  }
  EXPECT_GT(steps, 10U);  // it did die at several
  std::cout << runs << " schedules, death at " << steps - 1 << " steps\n";
}

}  // namespace
}  // namespace nagaya::mailbox
