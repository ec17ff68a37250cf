// SPDX-License-Identifier: BSD-3-Clause
// A process that shares a mailbox or a lane is killed at each step of a post or a push.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "mailbox/cell.h"
#include "mailbox/mailbox.h"

namespace nagaya::mailbox {
namespace {

const Owner kDead = Owner::task(1, 1), kOther = Owner::task(2, 1);

// Zeroed pages that a forked child shares, as tasks share all memory.
template <class T>
T& shared(size_t bytes = sizeof(T)) {
  return *static_cast<T*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

// Does `work` in a child that stops itself at `step`, and kills it there.
void kill_at(StopPoint step, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // it stops: see docs/bugs.md, the group that was hung up
    ::alarm(20);
    task::choose_stop_point({step, 1});
    work();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << "never came by "
                                  << task::kStopPointNames[static_cast<size_t>(step)];
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
}

int post_one(Mailbox& box, Owner poster, uint8_t kind) {
  const uint64_t payload = kind;
  return box.post(poster, kind, &payload, sizeof payload);
}

// The reader looks further than its head only now and then.
uint8_t kind_of_next(Mailbox& box) {
  for (int n = 0; n < 100; ++n)
    if (const Message message = box.take()) return message.kind;
  return 0;
}

void mark_as_sleeping(Mailbox& box) {
  box.bell().arm();
  box.before_sleep();
}

TEST(MailboxDeath, APosterKilledBeforeItsMessageIsReadyDelaysNobody) {
  auto& box = shared<Mailbox>();
  for (uint8_t lap = 0; lap < 3; ++lap) {
    kill_at(StopPoint::kPostReserved, [&] { post_one(box, kDead, 1); });
    ASSERT_EQ(post_one(box, kOther, 2), 0);
    EXPECT_EQ(kind_of_next(box), 2);
    EXPECT_EQ(box.before_sleep(), 1'000'000U);  // a post is under way, for all that is known
    box.after_sleep();
    box.cancel_posts_of(kDead);
    EXPECT_EQ(kind_of_next(box), 0);
    EXPECT_EQ(box.before_sleep(), kNever);
    box.after_sleep();
  }
  for (int n = 0; n < 256; ++n) ASSERT_EQ(post_one(box, kOther, 3), 0);
  EXPECT_EQ(post_one(box, kOther, 3), -EAGAIN);
  for (int n = 0; n < 256; ++n) ASSERT_EQ(kind_of_next(box), 3);
}

TEST(MailboxDeath, APosterKilledBeforeItsMessageIsReadyHidesNothingFromTheClearing) {
  auto& box = shared<Mailbox>();
  ASSERT_EQ(post_one(box, kOther, 1), 0);
  kill_at(StopPoint::kPostReserved, [&] { post_one(box, kDead, 2); });
  ASSERT_EQ(post_one(box, kOther, 3), 0);
  std::vector<uint8_t> kinds;
  box.clear([&](const Message& message) { kinds.push_back(message.kind); });
  EXPECT_EQ(kinds, (std::vector<uint8_t>{1, 3}));
  box.cancel_posts_of(kDead);
  EXPECT_EQ(kind_of_next(box), 0);
  for (int n = 0; n < 256; ++n) ASSERT_EQ(post_one(box, kOther, 4), 0);
  for (int n = 0; n < 256; ++n) ASSERT_EQ(kind_of_next(box), 4);
}

TEST(MailboxDeath, WhatAnotherPosterHasReservedIsNotForgotten) {
  auto& box = shared<Mailbox>();
  kill_at(StopPoint::kPostReserved, [&] { post_one(box, kOther, 1); });
  box.cancel_posts_of(kDead);
  EXPECT_EQ(box.before_sleep(), 1'000'000U);
}

TEST(MailboxDeath, AMessageThatWasReadyIsTaken) {
  for (const StopPoint step : {StopPoint::kPostReady, StopPoint::kBellRung}) {
    auto& box = shared<Mailbox>();
    mark_as_sleeping(box);
    kill_at(step, [&] { post_one(box, kDead, 1); });
    box.cancel_posts_of(kDead);
    EXPECT_EQ(kind_of_next(box), 1);
    EXPECT_EQ(kind_of_next(box), 0);
  }
}

TEST(MailboxDeath, TheNextPosterRingsForOneThatWasKilledOnItsWayToTheBell) {
  for (const StopPoint step :
       {StopPoint::kPostReserved, StopPoint::kPostReady, StopPoint::kBellRung}) {
    auto& box = shared<Mailbox>();
    mark_as_sleeping(box);
    kill_at(step, [&] { post_one(box, kDead, 1); });
    kill_at(StopPoint::kBellRung,
            [&] { post_one(box, kOther, 2); });  // stops there only if it rings
  }
}

TEST(LaneDeath, WhatWasNotPublishedIsNotSeenAndOthersGoOn) {
  for (const StopPoint step :
       {StopPoint::kLaneWritten, StopPoint::kLanePublished, StopPoint::kLaneMarked}) {
    auto& set = shared<LaneSet<TestCell>>(LaneSet<TestCell>::bytes_for(2));
    set.init(2);
    const uint32_t lane = set.claim(kDead), other = set.claim(kOther);
    kill_at(step, [&] { set.push(lane, TestCell::of(1, 1)); });
    ASSERT_TRUE(set.push(other, TestCell::of(2, 1)));
    uint64_t of_dead = 0, of_other = 0;
    const auto take = [&](uint32_t, const TestCell* cells, size_t count) {
      for (size_t n = 0; n < count; ++n) ++(cells[n].producer == 1 ? of_dead : of_other);
    };
    while (set.drain(take) != 0) {
    }
    EXPECT_EQ(of_other, 1U);
    EXPECT_EQ(of_dead, step == StopPoint::kLaneMarked ? 1U : 0U);
    set.reclaim(kDead);
    EXPECT_EQ(set.lag(lane), 0U);
    EXPECT_EQ(set.claim(kDead), lane);
  }
}

}  // namespace
}  // namespace nagaya::mailbox
