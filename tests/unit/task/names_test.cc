// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/names.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "task/handmade_space.h"
#include "task/space/futex.h"

namespace nagaya::task {
namespace {

using namespace std::chrono_literals;

constexpr int kForEver = -1;

TEST(Names, GiveTheAddressThatWasPublished) {
  HandmadeSpace space;
  int value;
  void* found = nullptr;
  ASSERT_EQ(publish_name(space.task(0), "halo", &value), 0);
  EXPECT_EQ(look_up_name(space.task(0), "halo", 0, &found), 0);
  EXPECT_EQ(found, &value);
}

TEST(Names, BelongToOneTask) {
  HandmadeSpace space;
  int value;
  void* found = nullptr;
  publish_name(space.task(0), "halo", &value);
  EXPECT_EQ(look_up_name(space.task(1), "halo", 0, &found), -ENOENT);
}

TEST(Names, AreReplacedByALaterPublication) {
  HandmadeSpace space;
  int first, second;
  void* found = nullptr;
  publish_name(space.task(0), "halo", &first);
  publish_name(space.task(0), "halo", &second);
  EXPECT_EQ(look_up_name(space.task(0), "halo", 0, &found), 0);
  EXPECT_EQ(found, &second);
}

TEST(Names, AreWithdrawnByANullAddress) {
  HandmadeSpace space;
  int value;
  void* found = nullptr;
  publish_name(space.task(0), "halo", &value);
  publish_name(space.task(0), "halo", nullptr);
  EXPECT_EQ(look_up_name(space.task(0), "halo", 0, &found), -ENOENT);
  EXPECT_EQ(look_up_name(space.task(0), "halo", 1, &found), -ETIMEDOUT);
}

TEST(Names, MayHave63BytesAndNotMore) {
  HandmadeSpace space;
  int value;
  void* found = nullptr;
  const std::string longest(63, 'x'), longer(64, 'x');
  EXPECT_EQ(publish_name(space.task(0), longest.c_str(), &value), 0);
  EXPECT_EQ(look_up_name(space.task(0), longest.c_str(), 0, &found), 0);
  EXPECT_EQ(publish_name(space.task(0), longer.c_str(), &value), -ENAMETOOLONG);
  EXPECT_EQ(look_up_name(space.task(0), longer.c_str(), 0, &found), -ENAMETOOLONG);
}

TEST(Names, AreAllFoundHoweverManyThereAre) {
  HandmadeSpace space;
  std::vector<char> values(500);
  for (size_t n = 0; n < values.size(); ++n)
    ASSERT_EQ(publish_name(space.task(0), ("name " + std::to_string(n)).c_str(), &values[n]), 0);
  for (size_t n = 0; n < values.size(); ++n) {
    void* found = nullptr;
    ASSERT_EQ(look_up_name(space.task(0), ("name " + std::to_string(n)).c_str(), 0, &found), 0);
    EXPECT_EQ(found, &values[n]);
  }
}

// The host frees the names of a task that was waited for, and others write there.
TEST(Names, AreNotFollowedBeyondTheEndOfTheirTask) {
  HandmadeSpace space;
  TaskRecord& owner = space.task(0);
  Name ring[2] = {};
  ring[0].next = &ring[1];  // a search in it never ends
  ring[1].next = &ring[0];
  for (std::atomic<Name*>& bucket : owner.names) bucket = &ring[0];
  void* found = nullptr;
  int code = 0;
  std::thread searcher([&] { code = look_up_name(owner, "halo", 0, &found); });
  std::this_thread::sleep_for(30ms);
  owner.state = TaskState::kEnded;
  for (Name& name : ring) name.next = reinterpret_cast<Name*>(0xa5a5a5a5a5a5a5a5);
  searcher.join();
  EXPECT_EQ(code, -EOWNERDEAD);
}

TEST(Names, SayThatTheHeapIsExhausted) {
  HandmadeSpace space(1);
  heap_allocate(space.task(1), kChunkBytes);
  int value;
  EXPECT_EQ(publish_name(space.task(0), "halo", &value), -ENOMEM);
}

TEST(Names, AreWaitedForNoLongerThanAsked) {
  HandmadeSpace space;
  void* found = nullptr;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(look_up_name(space.task(0), "never", 60, &found), -ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
}

TEST(Names, WakeAWaiterWhenPublished) {
  HandmadeSpace space;
  int value;
  std::thread publisher([&] {
    std::this_thread::sleep_for(30ms);
    int other;
    publish_name(space.task(0), "another", &other);
    std::this_thread::sleep_for(30ms);
    publish_name(space.task(0), "halo", &value);
  });
  void* found = nullptr;
  EXPECT_EQ(look_up_name(space.task(0), "halo", kForEver, &found), 0);
  EXPECT_EQ(found, &value);
  publisher.join();
}

TEST(Names, ReleaseAWaiterWhenTheirTaskEnds) {
  HandmadeSpace space;
  std::thread host([&] {
    std::this_thread::sleep_for(30ms);
    TaskRecord& record = space.task(0);
    record.state = TaskState::kEnded;
    record.names_changed.fetch_add(1);
    futex_wake_all(record.names_changed);
  });
  void* found = nullptr;
  EXPECT_EQ(look_up_name(space.task(0), "never", kForEver, &found), -EOWNERDEAD);
  host.join();
}

TEST(Names, AreWaitedForBeforeTheirTaskExists) {
  HandmadeSpace space;
  space.task(0).state = TaskState::kFree;
  int value;
  std::thread starter([&] {
    std::this_thread::sleep_for(30ms);
    space.task(0).state = TaskState::kRunning;
    publish_name(space.task(0), "halo", &value);
  });
  void* found = nullptr;
  EXPECT_EQ(look_up_name(space.task(0), "halo", kForEver, &found), 0);
  starter.join();
}

TEST(Names, ArriveWithWhatWasStoredBeforeThem) {
  HandmadeSpace space;
  std::vector<int> values(200, 0);
  std::thread publisher([&] {
    for (size_t n = 0; n < values.size(); ++n) {
      values[n] = static_cast<int>(n) + 1;
      publish_name(space.task(0), std::to_string(n).c_str(), &values[n]);
    }
  });
  for (size_t n = 0; n < values.size(); ++n) {
    void* found = nullptr;
    ASSERT_EQ(look_up_name(space.task(0), std::to_string(n).c_str(), kForEver, &found), 0);
    ASSERT_EQ(*static_cast<int*>(found), static_cast<int>(n) + 1);
  }
  publisher.join();
}

}  // namespace
}  // namespace nagaya::task
