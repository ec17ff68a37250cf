// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving, within a budget, of a program's thread that leaves and comes back, and of the
// completer.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>

#include "beneath/turns.h"
#include "mailbox/schedule.h"

namespace nagaya::mpi {
namespace {

using mailbox::schedule::Machine;
using Schedule = mailbox::schedule::Run;

// The spins of come_back() are few, so that it comes to sleep.
using OneTurns = BasicTurns<Machine, 2>;

struct State {
  OneTurns turns;
  Machine::Atomic<uint32_t> step{};  // each load is a point at which the other thread may run
  const char* user = "program";
  std::string failure;

  void expect_user(const char* expected) {
    if (std::string(user) != expected)
      failure = std::string("used by ") + user + ", not " + expected;
  }
  void program() {
    for (int n = 0; n < 2; ++n) {
      user = "nobody";
      turns.leave();
      step.load(std::memory_order_relaxed);
      turns.come_back();
      expect_user("nobody");
      user = "program";
      step.load(std::memory_order_relaxed);
      expect_user("program");
    }
  }
  void completer() {
    for (int n = 0; n < 3; ++n) {
      if (!turns.take()) continue;
      expect_user("nobody");
      user = "completer";
      step.load(std::memory_order_relaxed);
      expect_user("completer");
      user = "nobody";
      turns.give_back();
    }
  }
};

TEST(TurnsSchedules, NeverLetBothThreadsInAndNeverForgetTheOneThatWaits) {
  std::string failure;
  const auto test = [&](Schedule& run) {
    const auto state = std::make_unique<State>();
    run.add([&] { state->program(); });
    run.add([&] { state->completer(); });
    const std::string schedule_failure = run.go();
    return schedule_failure.empty() ? state->failure : schedule_failure;
  };
  const uint64_t runs = mailbox::schedule::explore(6, test, failure);
  EXPECT_EQ(failure, "") << "in schedule " << runs;
  std::cout << runs << " schedules\n";
}

}  // namespace
}  // namespace nagaya::mpi
