// SPDX-License-Identifier: BSD-3-Clause
// Locks, polled in a random order, and by threads.
#include "window/locks.h"

#include <optional>

#include "members.h"

namespace nagaya::window {
namespace {

const nagaya_window_memory kDynamic{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0};

// The holders of a window's locks, as the granted requests say.
struct Held {
  std::atomic<int> exclusive = 0, shared = 0;  // of one target
};
struct Table {
  std::vector<Held> targets;
  std::atomic<int> all = 0, exclusive = 0;  // of any target

  explicit Table(uint32_t size) : targets(size) {}

  void add(uint32_t target, bool is_exclusive, int by) {
    Held& held = targets[target];
    (is_exclusive ? held.exclusive : held.shared) += by;
    if (is_exclusive) exclusive += by;
    EXPECT_LE(held.exclusive, 1);
    EXPECT_TRUE(held.exclusive == 0 || (held.shared == 0 && all == 0));
  }
  void add_all(int by) {
    all += by;
    EXPECT_TRUE(all == 0 || exclusive == 0);
  }
};

// A lock that a member asks for, holds and gives back.
class Holding {
 public:
  Holding(Window& window, uint32_t target, bool is_exclusive, bool has_others)
      : window_(window), target_(target), is_exclusive_(is_exclusive) {
    one_.emplace(window, target, is_exclusive, has_others);
  }
  explicit Holding(Window& window) : window_(window) { all_.emplace(window); }

  bool is_granted() { return one_ ? one_->is_granted() : all_->is_granted(); }
  void count(Table& table, int by) const {
    one_ ? table.add(target_, is_exclusive_, by) : table.add_all(by);
  }
  void give_back() { one_ ? window_.unlock(target_, one_->access()) : window_.unlock_all(); }

 private:
  Window& window_;
  uint32_t target_ = 0;
  bool is_exclusive_ = false;
  std::optional<LockRequest> one_;
  std::optional<LockAllRequest> all_;
};

std::unique_ptr<Holding> random_request(Window& window, std::mt19937& random, bool with_all) {
  if (with_all && random() % 4 == 0) return std::make_unique<Holding>(window);
  const uint32_t target = random() % window.size();
  return std::make_unique<Holding>(window, target, random() % 2 == 0, false);
}

TEST(TargetLock, IsFreeWhileNobodyHasItOrWaitsForIt) {
  TargetLock lock{};
  EXPECT_TRUE(lock.is_free());
  const Ticket first = lock.take_ticket();
  EXPECT_FALSE(lock.is_free());
  ASSERT_TRUE(lock.try_shared(first));
  EXPECT_FALSE(lock.is_free());
  lock.unlock_shared();
  EXPECT_TRUE(lock.is_free());
  lock.announce_lock_all();
  EXPECT_TRUE(lock.is_free());
  ASSERT_TRUE(lock.try_exclusive().has_value());
  EXPECT_FALSE(lock.is_free());
  lock.unlock_exclusive();
  EXPECT_TRUE(lock.is_free());
}

TEST(Locks, RandomRequestsExcludeEachOtherAndAllAreGranted) {
  for (const uint32_t size : {1u, 2u, 5u, 16u})
    for (const bool with_all : {false, true}) {
      Members members(size);
      const Handles handles = members.opened(kDynamic);
      Table table(size);
      std::vector<std::unique_ptr<Holding>> requests(size);
      std::vector<bool> is_held(size);
      std::vector<int> grants(size);
      members.poll_all([&](uint32_t rank) {
        auto& request = requests[rank];
        if (request == nullptr) {
          request = random_request(*handles[rank], members.random, with_all);
        } else if (is_held[rank]) {
          request->count(table, -1);
          request->give_back();
          request.reset();
          is_held[rank] = false;
          return ++grants[rank] == 300;
        } else if (request->is_granted()) {
          request->count(table, 1);
          is_held[rank] = true;
        }
        return false;
      });
    }
}

TEST(Locks, AreGrantedInTheOrderOfTheRequests) {
  Members members(5);
  const Handles handles = members.opened(kDynamic);
  Holding reader(*handles[0], 3, false, false), second_reader(*handles[1], 3, false, false);
  Holding writer(*handles[2], 3, true, false), late_reader(*handles[3], 3, false, false);
  EXPECT_FALSE(second_reader.is_granted());
  EXPECT_TRUE(reader.is_granted());
  EXPECT_TRUE(second_reader.is_granted());
  EXPECT_FALSE(writer.is_granted());
  EXPECT_FALSE(late_reader.is_granted());
  reader.give_back();
  EXPECT_FALSE(writer.is_granted());
  second_reader.give_back();
  EXPECT_FALSE(late_reader.is_granted());
  EXPECT_TRUE(writer.is_granted());
  EXPECT_FALSE(late_reader.is_granted());
  writer.give_back();
  EXPECT_TRUE(late_reader.is_granted());
  late_reader.give_back();
}

TEST(AwaitedLock, NamesTheTicketOfOneThreadAlsoWhenTicketsWrap) {
  AwaitedLock awaited{};
  EXPECT_FALSE(awaited.is_among(3, 0, 2));
  const uint32_t place = 0;
  const uint64_t wait = AwaitedLock::of(3, Ticket(place), false);
  awaited.add(wait);
  EXPECT_TRUE(awaited.is_among(3, place, 1));
  EXPECT_TRUE(awaited.is_among(3, place - Ticket::kOne, 2));
  EXPECT_FALSE(awaited.is_among(3, place - Ticket::kOne, 1)) << "another ticket's turn";
  EXPECT_FALSE(awaited.is_among(3, place + Ticket::kOne, 2)) << "it has gone on";
  EXPECT_FALSE(awaited.is_among(2, place, 2)) << "another target's lock";
  awaited.remove(wait);
  EXPECT_FALSE(awaited.is_among(3, place, 1));
}

TEST(AwaitedLock, NamesEveryTicketWhileOneOfSeveralThreadsWaits) {
  AwaitedLock awaited{};
  const uint64_t first = AwaitedLock::of(0, Ticket(4), true);
  const uint64_t second = AwaitedLock::of(1, Ticket(8), true);
  awaited.add(first);
  awaited.add(second);
  awaited.remove(first);
  EXPECT_TRUE(awaited.is_among(5, 2, 1));
  awaited.remove(second);
  EXPECT_FALSE(awaited.is_among(5, 2, 1));
}

TEST(Locks, SleepersAreTheRequestsBehindTheNextOneIfMembersAreMoreThanProcessors) {
  for (const uint32_t processors : {2u, 5u}) {
    Members members(5);
    members.board().load.processors = processors;
    const Handles handles = members.opened(kDynamic);
    const bool is_crowded = processors == 2;
    const auto request_of = [&](uint32_t rank) {
      auto request = std::make_unique<LockRequest>(*handles[rank], 0, true, false);
      request->is_granted();
      return request;
    };
    const auto holder = request_of(0), next = request_of(1), second = request_of(2);
    EXPECT_FALSE(next->is_far());
    EXPECT_EQ(second->is_far(), is_crowded);
    handles[0]->unlock(0, holder->access());
    EXPECT_FALSE(second->is_far());
    EXPECT_TRUE(next->is_granted());
    handles[1]->unlock(0, next->access());
    EXPECT_TRUE(second->is_granted());
    handles[2]->unlock(0, second->access());
  }
}

TEST(Locks, LockAllWaitsForALockThatIsOlderThanTheFirstLockAll) {
  Members members(3);
  const Handles handles = members.opened(kDynamic);
  Holding early(*handles[0], 2, true, false);
  EXPECT_TRUE(early.is_granted());
  Holding all(*handles[1]);
  EXPECT_FALSE(all.is_granted());
  early.give_back();
  EXPECT_TRUE(all.is_granted());
  Holding late(*handles[0], 2, true, false);
  EXPECT_FALSE(late.is_granted());
  all.give_back();
  EXPECT_TRUE(late.is_granted());
  late.give_back();
}

TEST(Locks, TheFirstLockAllWaitsForOlderExclusiveRequestsAndForNoReader) {
  Members members(4);
  const Handles handles = members.opened(kDynamic);
  Holding reader(*handles[0], 2, false, false), other_reader(*handles[0], 1, false, false);
  EXPECT_TRUE(reader.is_granted());
  EXPECT_TRUE(other_reader.is_granted());
  Holding writer(*handles[1], 2, true, false);
  EXPECT_FALSE(writer.is_granted());
  Holding all(*handles[3]);
  EXPECT_FALSE(all.is_granted());
  reader.give_back();
  EXPECT_FALSE(all.is_granted());
  EXPECT_TRUE(writer.is_granted());
  writer.give_back();
  EXPECT_TRUE(all.is_granted()) << "it waits for a reader";
  all.give_back();
  other_reader.give_back();
}

TEST(Locks, LockAllAndExclusiveLocksTakeTurns) {
  Members members(4);
  const Handles handles = members.opened(kDynamic);
  Holding(*handles[0]).is_granted();
  Holding exclusive(*handles[1], 0, true, false);
  Holding late_all(*handles[2]);
  EXPECT_FALSE(exclusive.is_granted());
  EXPECT_FALSE(late_all.is_granted()) << "it overtakes an exclusive lock";
  handles[0]->unlock_all();
  EXPECT_TRUE(exclusive.is_granted());
  Holding late_exclusive(*handles[3], 1, true, false);
  EXPECT_FALSE(late_all.is_granted());
  EXPECT_FALSE(late_exclusive.is_granted()) << "it overtakes a lock_all";
  exclusive.give_back();
  EXPECT_TRUE(late_all.is_granted());
  late_all.give_back();
  EXPECT_TRUE(late_exclusive.is_granted());
  late_exclusive.give_back();
}

TEST(Locks, AHolderGetsASecondLockWhileALockAllWaitsForIt) {
  Members members(3);
  const Handles handles = members.opened(kDynamic);
  {
    Holding first_all(*handles[0]);
    EXPECT_TRUE(first_all.is_granted());
    first_all.give_back();
  }
  Holding one(*handles[0], 0, true, false);
  EXPECT_TRUE(one.is_granted());
  Holding all(*handles[1]);
  EXPECT_FALSE(all.is_granted());
  Holding queued(*handles[2], 1, true, false);
  EXPECT_FALSE(queued.is_granted());
  Holding second(*handles[0], 1, true, true);
  EXPECT_TRUE(second.is_granted()) << "a deadlock";
  one.give_back();
  EXPECT_FALSE(all.is_granted());
  second.give_back();
  EXPECT_TRUE(all.is_granted());
  all.give_back();
  EXPECT_TRUE(queued.is_granted());
  queued.give_back();
}

// The first lock_all of each window meets exclusive locks that do not know of it yet.
TEST(Locks, ThreadsExcludeEachOtherFromTheFirstLockAllOn) {
  for (uint64_t context = 0; context < 150; ++context) {
    Members members(4);
    const Handles handles = members.opened(kDynamic, context);
    Table table(4);
    members.run_threads([&](uint32_t rank) {
      std::mt19937 random(static_cast<uint32_t>(rank + 4 * context));
      for (int n = 0; n < 100; ++n) {
        const auto request = random_request(*handles[rank], random, true);
        poll_until([&] { return request->is_granted(); });
        request->count(table, 1);
        request->count(table, -1);
        request->give_back();
      }
    });
  }
}

TEST(Locks, SeveralThreadsOfAMemberLockDifferentTargets) {
  Members members(3);
  const Handles handles = members.opened(kDynamic);
  std::vector<uint64_t> counters(6);
  constexpr int kRounds = 3000;
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 3; ++rank)
    for (uint32_t target = 0; target < 2; ++target)
      threads.emplace_back([&, rank, target] {
        Window& window = *handles[rank];
        for (int n = 0; n < kRounds; ++n) {
          bool has_others = false;
          ASSERT_EQ(window.epochs().begin_lock(target, &has_others), 0);
          LockRequest request(window, target, true, has_others);
          poll_until([&] { return request.is_granted(); });
          window.epochs().set_target(target, request.access());
          ++counters[target];
          Access access = Access::kNone;
          ASSERT_EQ(window.epochs().end_lock(target, &access), 0);
          window.unlock(target, access);
        }
      });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t target = 0; target < 2; ++target) EXPECT_EQ(counters[target], 3u * kRounds);
  for (const auto& window : handles) EXPECT_TRUE(window->epochs().has_no_open_epoch());
}

}  // namespace
}  // namespace nagaya::window
