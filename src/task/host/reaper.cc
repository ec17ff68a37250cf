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

EndedChildren Reaper::take_ended() {
  EndedChildren ended{};
  if (::write(socket_.get(), "", 1) != 1 ||
      ::read(socket_.get(), &ended, sizeof ended) != sizeof ended)
    return {};
  return ended;
}

}  // namespace nagaya::task
