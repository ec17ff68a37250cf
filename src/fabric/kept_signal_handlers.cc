// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/kept_signal_handlers.h"

#include <unistd.h>

namespace nagaya::fabric {
namespace {

// Compares handler and flags; sa_handler shares its place with sa_sigaction.
bool are_same(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_handler == other.sa_handler && one.sa_flags == other.sa_flags;
}

std::optional<struct sigaction> disposition_of(int signal) {
  struct sigaction action {};
  if (signal == SIGKILL || signal == SIGSTOP || ::sigaction(signal, nullptr, &action) != 0)
    return std::nullopt;
  return action;
}

}  // namespace

KeptSignalHandlers::KeptSignalHandlers() {
  for (int signal = 1; signal < NSIG; ++signal) before_[signal] = disposition_of(signal);
}

KeptSignalHandlers::~KeptSignalHandlers() {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto now = disposition_of(signal);
    if (!now || !before_[signal] || are_same(*now, *before_[signal])) continue;
    ::sigaction(signal, &*before_[signal], nullptr);
    // Linux drops a pending SIGCHLD when its disposition becomes the default, even one that is
    // blocked: the host, which waits for SIGCHLD by a descriptor, would not reap a task that has
    // ended meanwhile. A SIGCHLD too many does no harm.
    if (signal == SIGCHLD) ::kill(::getpid(), SIGCHLD);
  }
}

}  // namespace nagaya::fabric
