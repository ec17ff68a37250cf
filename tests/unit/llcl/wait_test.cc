// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/wait.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

#include "llcl/own_board.h"

namespace nagaya::llcl {
namespace {

using mailbox::Machine;
using mailbox::Owner;
using mailbox::Pause;
using mailbox::WaitTable;

constexpr uint32_t kSelf = 1, kPartner = 2;
constexpr uint64_t kMillisecond = 1'000'000;

class WaitTest : public testing::Test {
 protected:
  WaitTest() { board_.load.processors = 2; }
  void crowd() { board_.load.runnable = board_.load.processors + 1; }
  static bool never() { return false; }
  template <class IsOver>
  bool until(IsOver is_over, uint64_t timeout_ns = mailbox::kNever) {
    const uint64_t deadline_ns =
        timeout_ns == mailbox::kNever ? timeout_ns : Machine::now_ns() + timeout_ns;
    return wait_.until(
               Purpose::kOther, is_over, deadline_ns, &board_.lane_waiters[0],
               [this] { ++probes_; }, Wait::OnError::kWaitOn) == 0;
  }
  // A thread that waits for a word, and has come to sleep.
  class Sleeper {
   public:
    explicit Sleeper(WaitTest& test, uint32_t sleepers = 1)
        : thread_([this, &test] {
            id_ = ::gettid();
            test.wait_.until(
                Purpose::kOther, [this] { return word.load() != 0; }, mailbox::kNever, nullptr,
                [] {}, Wait::OnError::kWaitOn);
            woken_ns = Machine::now_ns();
          }) {
      while (test.board_.sleepers[kSelf].count != sleepers) std::this_thread::yield();
      // Its first naps are short; later ones last longer than a notification may take.
      std::this_thread::sleep_for(std::chrono::milliseconds(70));
    }
    void join() { thread_.join(); }
    // As the kernel has it at this moment; one that a futex wake has reached does not.
    bool sleeps() const {
      std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
      std::string fields;  // stays empty, without an exception, if the thread ends meanwhile
      std::getline(file, fields);
      const size_t name_end = fields.rfind(") ");
      return name_end != std::string::npos && fields[name_end + 2] == 'S';
    }

    std::atomic<uint32_t> word = 0;
    uint64_t woken_ns = 0;

   private:
    std::atomic<pid_t> id_ = 0;
    std::thread thread_;
  };
  // Whether the sleeper was awake so soon after `end`; one of ten times, for others may run.
  bool wakes_within(uint64_t limit_ns, const std::function<void(Sleeper&)>& end) {
    uint64_t delay_ns = limit_ns;
    for (int time = 0; time < 10 && delay_ns >= limit_ns; ++time) {
      Sleeper sleeper(*this);
      const uint64_t begin_ns = Machine::now_ns();
      end(sleeper);
      sleeper.join();
      delay_ns = sleeper.woken_ns - begin_ns;
    }
    return delay_ns < limit_ns;
  }

  OwnBoard own_board_{4};
  Board& board_ = *own_board_;
  Wait wait_{board_, Owner::task(kSelf, 1)};
  int probes_ = 0;
};

// A library with its registration: counts, and moves when it is told to.
struct Library {
  static Progress progress(Library& self) {
    return {[](void* context) {
              auto& library = *static_cast<Library*>(context);
              ++library.polls;
              return library.moves.exchange(0);
            },
            self.every,
            [](void* context) { return static_cast<Library*>(context)->longest_ns.load(); },
            [](void* context) { ++static_cast<Library*>(context)->ends; }, &self};
  }
  std::atomic<int> polls = 0, ends = 0, moves = 0;
  std::atomic<uint64_t> longest_ns = mailbox::kNever;
  uint32_t every = 1;
};

TEST_F(WaitTest, EndsAtOnceWhenItIsOver) {
  EXPECT_TRUE(until([] { return true; }));
  int polls = 0;
  EXPECT_TRUE(until([&] { return ++polls == 500; }));
  EXPECT_EQ(polls, 500);
}

TEST_F(WaitTest, EndsAtItsDeadlineAndAtOnceAtOneThatHasPassed) {
  const uint64_t begin_ns = Machine::now_ns();
  EXPECT_FALSE(until(never, 30 * kMillisecond));
  EXPECT_GE(Machine::now_ns() - begin_ns, 30 * kMillisecond);
  int polls = 0;
  EXPECT_FALSE(until([&] { return ++polls, false; }, 0));
  EXPECT_LT(polls, 10);
}

TEST_F(WaitTest, EveryPollAdvancesAllThatIsRegistered) {
  Library libraries[2];
  for (Library& library : libraries) ASSERT_EQ(wait_.add(Library::progress(library)), 0);
  int polls = 0;
  until([&] { return ++polls == 100; });
  for (Library& library : libraries) EXPECT_GE(library.polls, 98);
  EXPECT_EQ(wait_.poll(), 0);
  libraries[1].moves = 3;
  EXPECT_EQ(wait_.poll(), 3);
  wait_.remove(&libraries[0]);
  const int before = libraries[0].polls;
  wait_.poll();
  EXPECT_EQ(libraries[0].polls, before);
}

TEST_F(WaitTest, ALibraryMayBeCalledInSomePollsOnlyButAlwaysBeforeASleep) {
  Library seldom;
  seldom.every = 1u << 31;
  ASSERT_EQ(wait_.add(Library::progress(seldom)), 0);
  for (int n = 0; n < 1000; ++n) wait_.poll();
  EXPECT_EQ(seldom.polls, 0);
  Sleeper sleeper(*this);
  EXPECT_GT(seldom.polls, 0);
  sleeper.word = 1;
  sleeper.join();
  Library now_and_then;
  now_and_then.every = 64;
  ASSERT_EQ(wait_.add(Library::progress(now_and_then)), 0);
  int polls = 0;
  until([&] { return ++polls == 640; });
  EXPECT_GE(now_and_then.polls, 9);
  EXPECT_LE(now_and_then.polls, 11);
}

TEST_F(WaitTest, ThereIsRoomForSomeAndARemovedOneMakesRoom) {
  constexpr size_t kMost = Wait::kProgressesMax;
  Library libraries[kMost + 1];
  for (size_t n = 0; n < kMost; ++n) EXPECT_EQ(wait_.add(Library::progress(libraries[n])), 0);
  EXPECT_EQ(wait_.add(Library::progress(libraries[kMost])), -ENOSPC);
  wait_.remove(&libraries[3]);
  EXPECT_EQ(wait_.add(Library::progress(libraries[kMost])), 0);
}

TEST_F(WaitTest, ANotificationWakesAThreadThatSleepsWithinAMillisecond) {
  EXPECT_TRUE(wakes_within(kMillisecond, [&](Sleeper& sleeper) {
    sleeper.word = 1;
    wake_task(board_, kSelf);
  }));
}

TEST_F(WaitTest, AStoreWithoutANotificationIsSeenAtTheEndOfANap) {
  EXPECT_TRUE(wakes_within(300 * kMillisecond, [](Sleeper& sleeper) { sleeper.word = 1; }));
}

// Without it the second one would sleep to the end of its nap.
TEST_F(WaitTest, ANotificationWakesEveryThreadThatSleeps) {
  wait_.enable_threads();
  Sleeper first(*this, 1), second(*this, 2);
  for (Sleeper* sleeper : {&first, &second}) sleeper->word = 1;
  wake_task(board_, kSelf);
  EXPECT_FALSE(first.sleeps());
  EXPECT_FALSE(second.sleeps());
  first.join();
  second.join();
  EXPECT_EQ(board_.sleepers[kSelf].count, 0u);
}

// One thread's poll completes what another one sleeps for.
TEST_F(WaitTest, AThreadThatMovesSomethingWakesTheOthers) {
  wait_.enable_threads();
  Library library;
  wait_.add(Library::progress(library));
  EXPECT_TRUE(wakes_within(kMillisecond, [&](Sleeper& sleeper) {
    library.moves = 1;
    sleeper.word = 1;
    wait_.poll();
  }));
}

// Thirty naps make a second; later ones take up to a quarter of a second each.
TEST_F(WaitTest, ASecondOfNapsCostsAHundredPolls) {
  uint32_t naps = 0;
  uint64_t last_ns = Machine::now_ns();
  until([&] {
    const uint64_t now_ns = Machine::now_ns();
    naps += now_ns - std::exchange(last_ns, now_ns) >= WaitTable::kNapNs;
    return naps > 200 || probes_ != 0;
  });
  EXPECT_EQ(probes_, 1);  // after a second
  EXPECT_GT(naps, 10u);
  EXPECT_LT(naps, 100u);
}

TEST_F(WaitTest, SleepsAreShortWhereNobodyRings) {
  Library library;
  library.longest_ns = NAGAYA_NOBODY_RINGS;
  wait_.add(Library::progress(library));
  Sleeper sleeper(*this);
  const int before = library.ends;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GT(library.ends - before, 50);
  sleeper.word = 1;
  sleeper.join();
}

// That poll may have missed an event, and its thread may poll no more.
TEST_F(WaitTest, SleepsAreShortBesideAPollOfAnotherThread) {
  struct {
    task::SpinLock lock;
    std::atomic<int> sleeps = 0;
  } polls;
  wait_.add({[](void*) { return 0; }, 1,
             [](void* context) {
               auto& own = *static_cast<decltype(polls)*>(context);
               ++own.sleeps;
               return sleep_beside_polls(own.lock);
             },
             nullptr, &polls});
  EXPECT_EQ(sleep_beside_polls(polls.lock), mailbox::kNever);
  polls.lock.lock();
  Sleeper sleeper(*this);
  const int before = polls.sleeps;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GT(polls.sleeps - before, 50);
  polls.lock.unlock();
  sleeper.word = 1;
  sleeper.join();
}

TEST_F(WaitTest, APollNeverSleeps) {
  rusage before, after;
  ::getrusage(RUSAGE_THREAD, &before);
  for (uint32_t n = 0; n < WaitTable::kPollsAwake + 1000; ++n) wait_.poll();
  ::getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 100);
}

TEST_F(WaitTest, AThreadThatWaitsForLongSaysSoUntilItIsOver) {
  board_.nodes = 2;
  const std::atomic<uint32_t>& said = board_.lane_waiters[0].waits;
  int polls = 0;
  until([&] {
    if (++polls < 10) {
      EXPECT_EQ(said, LaneWaiter::kNo);
    } else if (polls == 100) {
      EXPECT_EQ(said, LaneWaiter::kAwake);
    }
    return polls == 100;
  });
  EXPECT_EQ(said, LaneWaiter::kNo);
  EXPECT_EQ(board_.load.waiting, 0u);
  wait_.begin_polls(&board_.lane_waiters[0]);
  for (int n = 0; n < 100; ++n) wait_.poll();
  EXPECT_EQ(said, LaneWaiter::kAwake);
  wait_.found();
  EXPECT_EQ(said, LaneWaiter::kNo);
}

TEST_F(WaitTest, AThreadThatSleepsIsNotRunnable) {
  board_.load.runnable = 5;
  std::atomic<bool> was_seen{false};
  std::thread thread([&] {
    while (board_.load.runnable != 4) std::this_thread::yield();  // without the sleeper
    was_seen = true;
    wake_task(board_, kSelf);
  });
  until([&] { return was_seen.load(); });
  thread.join();
  EXPECT_EQ(board_.load.runnable, 5u);
}

// The turns of a thread that polls in place of another.
struct Turns {
  bool take() {
    if (is_over) return false;
    EXPECT_FALSE(is_taken.exchange(true));
    return true;
  }
  void give_back() { EXPECT_TRUE(is_taken.exchange(false)); }

  std::atomic<bool> is_over = false, is_taken = false;
};

// A library that is called by turns only.
struct TakenLibrary {
  static Progress progress(TakenLibrary& self) {
    return {[](void* context) {
              auto& library = *static_cast<TakenLibrary*>(context);
              ++library.polls;
              library.untaken += !library.turns.is_taken;
              return library.moves.exchange(0);
            },
            1,
            [](void* context) {
              auto& library = *static_cast<TakenLibrary*>(context);
              library.untaken += !library.turns.is_taken;
              return mailbox::kNever;
            },
            nullptr, &self};
  }
  Turns& turns;
  std::atomic<int> polls = 0, untaken = 0, moves = 0;
};

TEST_F(WaitTest, AThreadThatPollsByTurnsCallsNobodyWithoutATurnAndSleepsUntilTheBellRings) {
  Turns turns;
  TakenLibrary library{turns};
  ASSERT_EQ(wait_.add(TakenLibrary::progress(library)), 0);
  std::thread thread(
      [&] { wait_.poll_by_turns([&] { return turns.take(); }, [&] { turns.give_back(); }); });
  while (board_.sleepers[kSelf].count != 1) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const int polls = library.polls;
  EXPECT_LT(polls, 100) << "it sleeps soon";
  library.moves = 1;
  wake_task(board_, kSelf);
  while (library.moves != 0) std::this_thread::yield();
  turns.is_over = true;
  wake_task(board_, kSelf);
  thread.join();
  EXPECT_EQ(library.untaken, 0);
  EXPECT_EQ(board_.sleepers[kSelf].count, 0u);
}

TEST_F(WaitTest, AThreadThatHasNoTurnReturnsAtOnce) {
  int polls = 0;
  wait_.poll_by_turns([] { return false; }, [&] { ++polls; });
  EXPECT_EQ(polls, 0);
}

class BackoffTest : public WaitTest {
 protected:
  // How long a thread spins that has just found something.
  uint64_t spins_ns() {
    uint64_t least = UINT64_MAX;
    for (int time = 0; time < 50; ++time) {
      Backoff backoff(wait_, nullptr, mailbox::kNever);
      const uint64_t begin_ns = Machine::now_ns();
      while (backoff.pause() == Pause::kSpin) continue;
      least = std::min(least, Machine::now_ns() - begin_ns);
    }
    return least;
  }
};

TEST_F(BackoffTest, OnACrowdedNodeAThreadSpinsWhileItsPartnerRuns) {
  crowd();
  EXPECT_LT(spins_ns(), WaitTable::kPartnerSpinNs) << "for nobody";
  wait_.set_partner(kPartner);
  EXPECT_GE(spins_ns(), WaitTable::kPartnerSpinNs);
  board_.load.waiting = 1;
  EXPECT_LT(spins_ns(), WaitTable::kPartnerSpinNs) << "though somebody waits for the delegatee";
  board_.load.waiting = 0;
  board_.task_waiters[kPartner].is_idle = 1;
  EXPECT_LT(spins_ns(), WaitTable::kPartnerSpinNs) << "though the partner is idle";
}

TEST_F(BackoffTest, SpinsThenYieldsThenSleeps) {
  Backoff backoff(wait_, nullptr, mailbox::kNever);
  const uint64_t begin_ns = Machine::now_ns();
  uint32_t pauses = 0, spins = 0;
  for (Pause pause; (pause = backoff.pause()) != Pause::kSleep; ++pauses) {
    spins += pause == Pause::kSpin && spins == pauses;  // before any yield
  }
  EXPECT_GE(Machine::now_ns() - begin_ns, WaitTable::kAwakeNs);
  EXPECT_GE(pauses, WaitTable::kPollsAwake);
  EXPECT_LE(spins, WaitTable::kSpins);
  EXPECT_GT(spins, 0u);
  EXPECT_EQ(backoff.pause(), Pause::kSleep);
  backoff.found();
  EXPECT_EQ(backoff.pause(), Pause::kSpin);
  crowd();
  backoff.found();
  EXPECT_EQ(backoff.pause(), Pause::kYield);
}

TEST_F(BackoffTest, OnACrowdedNodeAThreadSleepsBesideADelegateeThatSleeps) {
  crowd();
  board_.nodes = 2;
  board_.bells[0].arm();
  Backoff backoff(wait_, nullptr, mailbox::kNever);
  for (uint32_t n = 0; n < WaitTable::kPollsBesideASleeper; ++n)
    ASSERT_EQ(backoff.pause(), Pause::kYield);
  EXPECT_EQ(backoff.pause(), Pause::kSleep);
  board_.bells[0].disarm();
  EXPECT_EQ(backoff.pause(), Pause::kYield);
}

}  // namespace
}  // namespace nagaya::llcl
