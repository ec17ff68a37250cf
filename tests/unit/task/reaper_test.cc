// SPDX-License-Identifier: BSD-3-Clause
// A host and its reaper: this process is the host.
#include "task/host/reaper.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>

#include <map>

#include "own_reaper.h"
#include "process_state.h"

namespace nagaya {
namespace {

constexpr int kLimitMs = 8000;

// Starts a child of the reaper, as the host starts tasks. Returns its pid.
template <class Act>
pid_t start_sibling(Act act) {
  own_reaper();
  const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid == 0) {
    act();
    ::_exit(99);
  }
  return static_cast<pid_t>(pid);
}

void await_state(pid_t pid, char state) {
  for (int n = 0; n < kLimitMs && state_of(pid) != state; ++n) ::usleep(1000);
  ASSERT_EQ(state_of(pid), state);
}

// Returns the wait statuses of `count` children by their pids.
std::map<pid_t, int> take(size_t count) {
  std::map<pid_t, int> taken;
  for (int n = 0; n < kLimitMs && taken.size() < count; ++n, ::usleep(1000)) {
    own_reaper().ask();
    while (const auto child = own_reaper().take_ended(true)) taken[child->pid] = child->wait_status;
  }
  return taken;
}

TEST(Reaper, IsTheParentOfHostAndTasks) {
  const pid_t reaper = own_reaper().pid();
  const pid_t host = ::getpid();
  EXPECT_EQ(reaper, ::getppid());
  const pid_t task = start_sibling([&] { ::_exit(::getppid() == reaper && ::getpid() != host); });
  EXPECT_EQ(take(1), (std::map<pid_t, int>{{task, W_EXITCODE(1, 0)}}));
}

TEST(Reaper, KeepsAnEndedChildUntilTheHostAsks) {
  const pid_t task = start_sibling([] { ::_exit(7); });
  await_state(task, 'Z');
  ::usleep(20000);
  EXPECT_EQ(state_of(task), 'Z');
  EXPECT_EQ(take(1), (std::map<pid_t, int>{{task, W_EXITCODE(7, 0)}}));
  EXPECT_EQ(state_of(task), ' ');
}

TEST(Reaper, TellsOfNoneWhileAllLive) {
  const pid_t task = start_sibling([] {
    for (;;) ::pause();
  });
  own_reaper().ask();
  EXPECT_FALSE(own_reaper().take_ended(true));
  EXPECT_FALSE(own_reaper().is_asked());
  ::kill(task, SIGKILL);
  EXPECT_EQ(take(1), (std::map<pid_t, int>{{task, W_EXITCODE(0, SIGKILL)}}));
}

TEST(Reaper, TellsTheHostBySigchld) {
  sigset_t ended, before;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ended, &before);
  start_sibling([] { ::_exit(0); });
  const timespec limit{kLimitMs / 1000, 0};
  EXPECT_EQ(::sigtimedwait(&ended, nullptr, &limit), SIGCHLD);
  EXPECT_EQ(take(1).size(), 1u);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(Reaper, SendsMoreEndsThanOneMessageHolds) {
  std::map<pid_t, int> expected;
  for (uint32_t n = 0; n < 2 * task::kEndedMax + 3; ++n) {
    const int code = static_cast<int>(n % 100);
    expected[start_sibling([&] { ::_exit(code); })] = W_EXITCODE(code, 0);
  }
  for (const auto& [pid, status] : expected) await_state(pid, 'Z');
  EXPECT_EQ(take(expected.size()), expected);
}

TEST(Reaper, LetsTheHostGoOnUntilItAnswers) {
  EXPECT_FALSE(own_reaper().take_ended(false));
  const pid_t task = start_sibling([] { ::_exit(3); });
  await_state(task, 'Z');
  own_reaper().ask();
  EXPECT_TRUE(own_reaper().is_asked());
  pollfd answer{own_reaper().fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&answer, 1, kLimitMs), 1);
  const auto ended = own_reaper().take_ended(false);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->pid, task);
  EXPECT_FALSE(own_reaper().is_asked());
}

}  // namespace
}  // namespace nagaya
