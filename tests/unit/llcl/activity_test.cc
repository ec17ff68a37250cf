// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/activity.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "llcl/board/activity_file.h"
#include "llcl/own_board.h"
#include "llcl/requests/recorder.h"

namespace nagaya::llcl {
namespace {

using mailbox::Owner;
using Kind = ActivityEvent::Kind;

constexpr uint32_t kSelf = 1;
constexpr nagaya_process kNobody{0, UINT32_MAX};

class ActivityTest : public testing::Test {
 protected:
  const TaskActivity& own() const { return board_.activity.load()->of(kSelf); }
  std::vector<ActivityEvent> read() {
    std::vector<ActivityEvent> events;
    lost_ += board_.activity.load()->read(
        kSelf, next_, [&](const ActivityEvent& event) { events.push_back(event); });
    return events;
  }
  // Polls in vain as often as in a wait that is timed by itself.
  static void poll_long(RecordedWait& one) {
    for (uint32_t n = 0; n < RecordedWait::kShortPolls; ++n) one.polled();
  }
  void wait(Purpose purpose, Purpose event, nagaya_process whom) {
    RecordedWait one(recorder_, purpose);
    one.polled();
    recorder_.arrived(event, whom);
  }

  OwnBoard own_board_{4};
  Board& board_ = *own_board_;
  ActivityFile file_;
  Recorder recorder_{board_, Owner::task(kSelf, 1)};
  uint64_t next_ = 0, lost_ = 0;
};

TEST_F(ActivityTest, NothingIsMadeAndNothingIsWrittenWhileNobodyReads) {
  { RecordedWait one(recorder_, Purpose::kBarrier); }
  count(board_, Owner::task(kSelf, 1), &TaskActivity::messages, 1);
  EXPECT_FALSE(recorder_.is_read());
  EXPECT_EQ(board_.activity.load(), nullptr);
  EXPECT_EQ(file_.watch(board_, 0), -1);
}

TEST_F(ActivityTest, CountsAreKeptWhileSomebodyReads) {
  EXPECT_GE(file_.watch(board_, kCounts), 0);
  recorder_.count_sent({0, 2}, {.context = 1, .serial = 1, .source = 0, .tag = 5, .bytes = 100});
  count(board_, Owner::task(kSelf, 1), &TaskActivity::copied_bytes, 7);
  {
    RecordedWait one(recorder_, Purpose::kBarrier);
    poll_long(one);
    EXPECT_NE(own().waiting_since, 0u);
    EXPECT_EQ(WaitReason{own().waiting_for}.purpose(), Purpose::kBarrier);
  }
  EXPECT_EQ(own().messages, 1u);
  EXPECT_EQ(own().message_bytes, 100u);
  EXPECT_EQ(own().copied_bytes, 7u);
  EXPECT_GT(own().waited_ticks, 0u);
  EXPECT_EQ(own().waiting_since, 0u);
  EXPECT_EQ(own().logged, 0u) << "nobody reads logs";
  file_.watch(board_, 0);
  count(board_, Owner::task(kSelf, 1), &TaskActivity::copied_bytes, 7);
  EXPECT_EQ(own().copied_bytes, 7u);
}

TEST_F(ActivityTest, AWaitThatHasBegunBeforeTheReaderIsSeenFromThenOn) {
  RecordedWait one(recorder_, Purpose::kBarrier);
  poll_long(one);
  file_.watch(board_, kCounts);
  poll_long(one);
  EXPECT_NE(own().waiting_since, 0u);
}

TEST_F(ActivityTest, OneShortWaitInSeveralStandsForAll) {
  file_.watch(board_, kCounts);
  uint64_t before = 0;
  int grown = 0;
  for (uint32_t n = 0; n < 10 * RecordedWait::kSampled; ++n) {
    {
      RecordedWait one(recorder_, Purpose::kMessage);
      one.polled();
      EXPECT_EQ(board_.activity.load()->of(kSelf).waiting_since, 0u);
    }
    grown += own().waited_ticks != before;
    before = own().waited_ticks;
  }
  EXPECT_EQ(grown, 10);
}

TEST_F(ActivityTest, TheEndOfAGeneralWaitTellsItsPurpose) {
  file_.watch(board_, kLog);
  recorder_.expect(Purpose::kReceive, {0, 3});
  wait(Purpose::kMessage, Purpose::kSend, {0, 2});
  wait(Purpose::kAllreduce, Purpose::kReceive, {7, 2});
  const auto events = read();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, Kind::kBegun);
  EXPECT_EQ(events[1].purpose, Purpose::kSend);
  EXPECT_TRUE(events[1].process.is_here());
  EXPECT_EQ(events[1].process.task(), 2u);
  EXPECT_EQ(events[2].purpose, Purpose::kAllreduce) << "a collective stays one, whoever sends";
  EXPECT_EQ(events[2].process.node(), 7u);
}

TEST_F(ActivityTest, ACollectiveHasWaitedForTheMemberThatItMissedLast) {
  file_.watch(board_, kLog);
  {
    RecordedWait one(recorder_, Purpose::kBarrier);
    recorder_.expect(Purpose::kBarrier, {0, 2});
    one.polled();
    recorder_.expect(Purpose::kBarrier, {0, 3});
    EXPECT_EQ(WaitReason{own().waiting_for}.whom().task(), 3u);
    recorder_.arrived(Purpose::kReceive, {0, 0});
  }
  EXPECT_EQ(read().back().process.task(), 3u);
}

TEST_F(ActivityTest, AnUnknownProcessIsNone) {
  EXPECT_FALSE(OtherProcess::of(kNobody, 0).is_known());
  EXPECT_TRUE(OtherProcess::of({3, 4}, 3).is_here());
  EXPECT_EQ(OtherProcess::of({3, 4}, 2).node(), 3u);
}

TEST_F(ActivityTest, ALogThatWrapsLosesTheOldestEventsAndSaysHowMany) {
  file_.watch(board_, kLog);
  recorder_.expect(Purpose::kReceive, {0, 3});
  const uint64_t all = Activity::kEvents + 1000;
  for (uint32_t n = 1; n < all; ++n)  // kBegun is the first event
    recorder_.count_sent({0, 2}, {.context = 1, .serial = n, .source = 0, .tag = 0, .bytes = 8});
  const auto events = read();
  EXPECT_EQ(events.size() + lost_, all);
  EXPECT_EQ(lost_, 1001u) << "and the one that might be half overwritten";
  for (size_t n = 0; n < events.size(); ++n) EXPECT_EQ(events[n].serial, n + lost_);
  EXPECT_TRUE(read().empty());
}

TEST_F(ActivityTest, AReaderBesideTheWriterSeesWholeEventsInOrder) {
  file_.watch(board_, kLog);
  constexpr uint32_t kAll = 300'000;
  std::thread writer([&] {
    for (uint32_t n = 1; n <= kAll; ++n)
      recorder_.count_sent({0, 2}, {.context = n, .serial = n, .source = 0, .tag = 0, .bytes = n});
  });
  uint32_t last = 0;
  uint64_t seen = 0;
  while (last != kAll)
    for (const ActivityEvent& event : read()) {
      ++seen;
      if (event.kind == Kind::kBegun) continue;
      EXPECT_GT(event.serial, last);
      EXPECT_TRUE(event.context == event.serial && event.bytes == event.serial);
      last = event.serial;
    }
  writer.join();
  EXPECT_EQ(seen + lost_, kAll + 1);
}

TEST_F(ActivityTest, TheNextTaskOfANumberAndTheEndOfOneAreInTheLog) {
  file_.watch(board_, kLog);
  wait(Purpose::kBarrier, Purpose::kBarrier, kNobody);
  note_end(board_, kSelf);
  Recorder next(board_, Owner::task(kSelf, 2));
  next.count_sent({0, 2}, {});
  const auto events = read();
  std::vector<Kind> kinds;
  for (const ActivityEvent& event : events) kinds.push_back(event.kind);
  EXPECT_EQ(kinds,
            (std::vector{Kind::kBegun, Kind::kWaited, Kind::kEnded, Kind::kBegun, Kind::kSent}));
}

TEST_F(ActivityTest, MemoryOfLogsIsFreedWhenNobodyReadsThem) {
  file_.watch(board_, kLog | kCounts);
  recorder_.count_sent({0, 2}, {.context = 1, .serial = 9, .source = 0, .tag = 0, .bytes = 8});
  file_.watch(board_, kCounts);
  for (const ActivityEvent& event : read()) EXPECT_EQ(event.serial, 0u);
  EXPECT_EQ(own().messages, 1u) << "counts stay";
}

}  // namespace
}  // namespace nagaya::llcl
