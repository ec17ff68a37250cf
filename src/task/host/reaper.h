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
  int fd() const { return socket_.get(); }  // readable once there is an answer

  // Asks which children have ended; the kernel may use their pids again at once. Does nothing while
  // a question is open, or if there is no memory. Call this after take_ended() has returned none.
  void ask();
  bool is_asked() const { return is_asked_; }

  // Returns the next child that has ended, of the answer to the last question. If that has not
  // come, waits for it if `waits`, else returns none.
  std::optional<EndedChild> take_ended(bool waits);

 private:
  base::Fd socket_;
  pid_t pid_ = 0;
  bool is_asked_ = false;
  EndedChildren ended_{};  // the last answer
  uint32_t taken_ = 0;     // of these
};

}  // namespace nagaya::task
