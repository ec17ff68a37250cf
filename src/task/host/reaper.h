// SPDX-License-Identifier: BSD-3-Clause
// reaper.h - the host's end of the connection to its reaper (reaping.h), which is its parent and
// that of its tasks, in a session of its own.
//
// If the host were the parent, a task would make its proxy's process group one that somebody
// controls: its parent would be in the same session and outside of the group. The kernel does not
// stop a group that nobody controls at Ctrl-Z, and sends SIGHUP to a group with stopped processes
// once nobody controls it any more.
#pragma once

#include <optional>

#include "base/fd.h"
#include "task/host/reaping.h"

namespace nagaya::task {

class Reaper {
 public:
  // `socket` is connected to the parent of this process. Waits until that has left the session, and
  // lets the kernel kill this process when it ends. Throws Error.
  explicit Reaper(base::Fd socket);

  pid_t pid() const { return pid_; }
  int fd() const { return socket_.get(); }  // readable when a child has ended

  // Returns a child that has ended, if there is one. The caller sends it no signal any more: the
  // kernel may use its pid again.
  std::optional<EndedChild> take_ended();

 private:
  void confirm();

  base::Fd socket_;
  pid_t pid_ = 0;
  pid_t unconfirmed_ = 0;  // taken, but there was no memory to tell the reaper; 0: none
};

}  // namespace nagaya::task
