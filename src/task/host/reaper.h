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

  // Returns the next child that has ended, if there is one; SIGCHLD tells. If there is no memory to
  // ask the reaper, a later call returns the child. Call this until it returns none: the kernel may
  // use the pids of the others again, too.
  std::optional<EndedChild> take_ended();

  // Sends a signal to a child that take_ended() has not returned, unless it has ended.
  void signal(pid_t pid, int signal) const;

 private:
  void ask();

  base::Fd socket_;
  pid_t pid_ = 0;
  EndedChildren ended_{};  // the last answer
  uint32_t taken_ = 0;     // of these
};

}  // namespace nagaya::task
