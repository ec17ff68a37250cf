// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/reaper.h"

#include <sys/prctl.h>

#include <utility>

#include "base/error.h"

namespace nagaya::task {

Reaper::Reaper(base::Fd socket) : socket_(std::move(socket)) {
  ::recv(socket_.get(), &pid_, sizeof pid_, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) base::throw_errno("PR_SET_PDEATHSIG");
  if (pid_ == 0 || ::getppid() != pid_) throw base::Error(-ESRCH, "the host has no reaper");
}

std::optional<EndedChild> Reaper::take_ended() {
  confirm();
  EndedChild ended;
  if (unconfirmed_ != 0 ||
      ::recv(socket_.get(), &ended, sizeof ended, MSG_DONTWAIT) != sizeof ended)
    return std::nullopt;
  unconfirmed_ = ended.pid;
  confirm();
  return ended;
}

void Reaper::confirm() {
  if (unconfirmed_ != 0 && ::send(socket_.get(), &unconfirmed_, sizeof unconfirmed_,
                                  MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof unconfirmed_)
    unconfirmed_ = 0;
}

}  // namespace nagaya::task
