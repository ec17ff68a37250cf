// SPDX-License-Identifier: BSD-3-Clause
// kept_signal_handlers.h - undoes a library's changes to this process's signals while it is loaded
// or opened.
#pragma once

#include <signal.h>

#include <array>
#include <optional>

namespace nagaya::fabric {

// Saves the disposition of every signal, and restores changed ones when it goes out of scope.
// libpsm_infinipath, which Debian's libfabric is linked to, installs handlers in its constructor: a
// host that a signal ends would leave a backtrace file (*.btr) in the user's directory, and end
// later.
//
// Dispositions are the process's: one thread may use this at a time.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers();
  ~KeptSignalHandlers();
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  // By signal number. Empty: SIGKILL, SIGSTOP and libc's own signals, which nobody can change.
  std::array<std::optional<struct sigaction>, NSIG> before_;
};

}  // namespace nagaya::fabric
