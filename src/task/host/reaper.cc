// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/reaper.h"

#include <sys/prctl.h>

#include <utility>

#include "base/error.h"

namespace nagaya::task {

Reaper::Reaper(base::Fd socket) : socket_(std::move(socket)) {
  const bool has_come = ::read(socket_.get(), &pid_, sizeof pid_) == sizeof pid_;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) base::throw_errno("PR_SET_PDEATHSIG");
  if (!has_come || ::getppid() != pid_) throw base::Error(-ESRCH, "the host has no reaper");
}

void Reaper::ask() {
  is_asked_ = is_asked_ || ::write(socket_.get(), "", 1) == 1;
}

std::optional<EndedChild> Reaper::take_ended(bool waits) {
  if (taken_ == ended_.count) {
    if (ended_.count == kEndedMax) ask();  // there may be more
    ended_.count = taken_ = 0;
    if (is_asked_ && ::recv(socket_.get(), &ended_, sizeof ended_, waits ? 0 : MSG_DONTWAIT) > 0)
      is_asked_ = false;
  }
  if (taken_ == ended_.count) return std::nullopt;
  return ended_.children[taken_++];
}

}  // namespace nagaya::task
