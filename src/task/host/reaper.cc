// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/reaper.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace nagaya::task {

Reaper::Reaper(base::Fd socket) : socket_(std::move(socket)) {
  const bool has_come = ::read(socket_.get(), &pid_, sizeof pid_) == sizeof pid_;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) base::throw_errno("PR_SET_PDEATHSIG");
  if (!has_come || ::getppid() != pid_) throw base::Error(-ESRCH, "the host has no reaper");
}

std::optional<EndedChild> Reaper::take_ended() {
  if (taken_ == ended_.count) ask();
  if (taken_ == ended_.count) return std::nullopt;
  return ended_.children[taken_++];
}

// Replaces the last answer, of which all is taken. If that was not full, there are no others.
void Reaper::ask() {
  const bool had_all = ended_.count != 0 && ended_.count < kEndedMax;
  ended_.count = taken_ = 0;
  if (had_all) return;
  if (::write(socket_.get(), "", 1) != 1 || ::read(socket_.get(), &ended_, sizeof ended_) < 0)
    ended_.count = 0;
}

void Reaper::signal(pid_t pid, int signal) const {
  const bool has_ended = std::any_of(ended_.children + taken_, ended_.children + ended_.count,
                                     [pid](const EndedChild& child) { return child.pid == pid; });
  if (!has_ended) ::kill(pid, signal);
}

}  // namespace nagaya::task
