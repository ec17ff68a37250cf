// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/kept_signal_handlers.h"

#include <gtest/gtest.h>

namespace nagaya::fabric {
namespace {

using Handler = void (*)(int);

void of_the_program(int) {}
void of_a_library(int) {}

Handler handler_of(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}
void install(int signal, Handler handler) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

TEST(KeptSignalHandlers, AreThoseOfBeforeAndNotOfALibraryThatInstallsItsOwn) {
  const KeptSignalHandlers kept_by_the_test;
  install(SIGUSR1, of_the_program);
  install(SIGUSR2, SIG_IGN);
  install(SIGTERM, SIG_DFL);
  const int signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGRTMAX};
  {
    const KeptSignalHandlers kept;
    for (const int signal : signals) install(signal, of_a_library);
    EXPECT_EQ(handler_of(SIGTERM), of_a_library);
  }
  EXPECT_EQ(handler_of(SIGUSR1), of_the_program);
  EXPECT_EQ(handler_of(SIGUSR2), SIG_IGN);
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
  EXPECT_EQ(handler_of(SIGRTMAX), SIG_DFL);
}

TEST(KeptSignalHandlers, LeaveASignalPendingThatWasSentMeanwhile) {
  sigset_t child, before, pending;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, &before);
  for (const bool is_changed : {false, true}) {
    {
      const KeptSignalHandlers kept;
      if (is_changed) install(SIGCHLD, of_a_library);
      ::raise(SIGCHLD);
    }
    ::sigpending(&pending);
    EXPECT_TRUE(::sigismember(&pending, SIGCHLD)) << (is_changed ? "changed" : "not changed");
    const timespec at_once{};
    ::sigtimedwait(&child, nullptr, &at_once);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace nagaya::fabric
