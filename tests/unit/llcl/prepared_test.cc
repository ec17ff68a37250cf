// SPDX-License-Identifier: BSD-3-Clause
// What nagaya_llcl_try_start() does in the caller, without the library.
#include <errno.h>
#include <gtest/gtest.h>

#include "nagaya/llcl.h"

namespace {

uint32_t calls, wakes, task_woken;

}  // namespace

int nagaya_llcl_start_by_call(const nagaya_llcl_prepared*) {
  ++calls;
  return -EAGAIN;
}
void nagaya_llcl_wake(uint32_t task) {
  ++wakes;
  task_woken = task;
}

namespace nagaya::llcl {
namespace {

constexpr uint32_t kTask = 7;

class PreparedTest : public testing::Test {
 protected:
  PreparedTest() {
    calls = wakes = task_woken = 0;
    request_.task = kTask;
    request_.from = &source_;
    request_.to = &target_;
    request_.bytes = sizeof source_;
    request_.sleepers = &sleepers_;
  }

  double source_ = 2.5, target_ = 0;
  uint64_t counter_ = 0;
  uint32_t sleepers_ = 0;
  nagaya_llcl_prepared request_{};
};

TEST_F(PreparedTest, EachStartMovesWhatIsThereThen) {
  for (const uint32_t way : {NAGAYA_LLCL_WORD, NAGAYA_LLCL_COPY}) {
    request_.way = way;
    for (const double value : {1.5, -3.0}) {
      source_ = value;
      EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
      EXPECT_EQ(target_, value);
    }
  }
  EXPECT_EQ(calls, 0u);
}

TEST_F(PreparedTest, EachStartOfAnAdditionAddsAndTellsWhatWasThere) {
  uint64_t word = 40, before = 0;
  request_.way = NAGAYA_LLCL_ADD;
  request_.to = &word;
  request_.command[4] = reinterpret_cast<uint64_t>(&before);
  request_.command[6] = 2;
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(before, 42u);
  EXPECT_EQ(word, 44u);
  EXPECT_EQ(calls, 0u);
}

TEST_F(PreparedTest, ACopyMayOverlapItself) {
  unsigned char bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  request_.way = NAGAYA_LLCL_COPY;
  request_.from = bytes;
  request_.to = bytes + 2;
  request_.bytes = 10;
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  for (int n = 0; n < 10; ++n) EXPECT_EQ(bytes[2 + n], n + 1);
}

TEST_F(PreparedTest, EveryStartGivesItsCompletion) {
  uint32_t flag = 0;
  uint64_t count = 1ull << 32;  // an error of another request
  request_.on_complete = nagaya_flag(&flag);
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(flag, 1u);
  request_.on_complete = nagaya_counter(&count);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(count, (1ull << 32) + 3);
}

TEST_F(PreparedTest, ANotificationWakesOnlyWhereSomebodySleeps) {
  request_.counter = &counter_;
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(counter_, 1u);
  EXPECT_EQ(wakes, 0u);
  sleepers_ = 2;
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(counter_, 2u);
  EXPECT_EQ(wakes, 1u);
  EXPECT_EQ(task_woken, kTask);
}

TEST_F(PreparedTest, NothingHappensInTheCallerOnTheOtherWays) {
  uint32_t flag = 0;
  request_.on_complete = nagaya_flag(&flag);
  request_.counter = &counter_;
  for (const uint32_t way : {NAGAYA_LLCL_CALL, NAGAYA_LLCL_LANE}) {
    request_.way = way;
    EXPECT_EQ(nagaya_llcl_try_start(&request_), -EAGAIN);
  }
  EXPECT_EQ(calls, 2u);
  EXPECT_EQ(target_, 0);
  EXPECT_EQ(flag, 0u);
  EXPECT_EQ(counter_, 0u);
}

}  // namespace
}  // namespace nagaya::llcl
