// SPDX-License-Identifier: BSD-3-Clause
// host_log.h - a file to which the hosts of a user's jobs add a line whenever they notice something
// that the user or an administrator should know (NAGAYA_LOG). A host has no terminal.
#pragma once

#include <string>

#include "base/fd.h"

namespace nagaya::task {

class HostLog {
 public:
  HostLog() = default;  // of no file: nothing is written
  // Opens the file, or makes it (mode 0600). In a folder that others write, too, a stranger may
  // have made that name to lead our lines elsewhere, or to make us wait. Throws Error: it cannot be
  // written (no such folder, ...), -ELOOP (a symbolic link), -EPERM (not an ordinary file, another
  // user's but root's, or one with several names).
  explicit HostLog(const std::string& path);

  // Adds "<time> nagaya-host <pid>: <text>", as a whole: several hosts may share a file. A
  // line that cannot be written is lost.
  void say(const std::string& text) const;

 private:
  base::Fd file_;
};

}  // namespace nagaya::task
