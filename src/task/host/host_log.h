// SPDX-License-Identifier: BSD-3-Clause
// host_log.h - a file to which the hosts of a user's jobs add a line whenever they notice something
// that the user or an administrator should know (NAGAYA_LOG). A host has no terminal.
#pragma once

#include <string>

#include "base/fd.h"

namespace nagaya::task {

class HostLog {
 public:
  HostLog() = default;  // has no file: say() writes nothing
  // Opens the file, or makes it (mode 0600). In a folder that other users may write, too, a
  // stranger may have made a file of this name to redirect our lines or to block us. Throws Error:
  // the file cannot be written (no such folder, ...), -ELOOP (a symbolic link), -EPERM (not an
  // ordinary file, owned by another user than this one or root, or with several hard links).
  explicit HostLog(const std::string& path);

  // Appends "<time> nagaya-host <pid>: <text>" in one write: several hosts may share a file. A
  // line that cannot be written is lost.
  void say(const std::string& text) const;

 private:
  base::Fd file_;
};

}  // namespace nagaya::task
