// SPDX-License-Identifier: BSD-3-Clause
// take_stop.h - for a process that reads its signals from a signalfd. The waiter, which has no C++
// library, includes this file, too.
#pragma once

#include <signal.h>

namespace nagaya::tools {

// Stops this process as SIGTSTP, SIGTTIN or SIGTTOU does, which it blocks and has read, until
// somebody continues it. The kernel does not stop it if nobody controls its process group (it is
// orphaned): then nobody would continue it.
inline void take_stop(int signal) {
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
}

}  // namespace nagaya::tools
