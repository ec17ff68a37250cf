// SPDX-License-Identifier: BSD-3-Clause
// nagaya_llcl_try_start() in the caller, without the library.
#include <errno.h>
#include <gtest/gtest.h>

#include "nagaya/llcl.h"

namespace {

uint32_t calls, notifications;
double come_before_notification;

}  // namespace

int nagaya_llcl_start_by_call(const nagaya_llcl_prepared*) {
  ++calls;
  return -EAGAIN;
}
void nagaya_llcl_notify(const nagaya_llcl_prepared* request) {
  ++notifications;
  come_before_notification = *static_cast<const double*>(request->to);
}

namespace nagaya::llcl {
namespace {

class PreparedTest : public testing::Test {
 protected:
  PreparedTest() {
    calls = notifications = 0;
    request_.from = &source_;
    request_.to = &target_;
    request_.bytes = sizeof source_;
  }

  double source_ = 2.5, target_ = 0;
  uint64_t counter_ = 0;
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
  uint64_t count = NAGAYA_COUNTER_FAILED;  // by another request
  request_.on_complete = nagaya_flag(&flag);
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(flag, 1u);
  request_.on_complete = nagaya_counter(&count);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(count, NAGAYA_COUNTER_FAILED + 3);
}

TEST_F(PreparedTest, ANotificationComesBehindTheData) {
  EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
  EXPECT_EQ(notifications, 0u) << "nobody is to be notified";
  request_.counter = &counter_;
  for (const double value : {1.5, -3.0}) {
    source_ = value;
    EXPECT_EQ(nagaya_llcl_try_start(&request_), 0);
    EXPECT_EQ(come_before_notification, value);
  }
  EXPECT_EQ(notifications, 2u);
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
  EXPECT_EQ(notifications, 0u);
}

}  // namespace
}  // namespace nagaya::llcl
