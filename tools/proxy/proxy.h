// SPDX-License-Identifier: BSD-3-Clause
// proxy.h - a process that launches a task in its own stead: it hands over what it has inherited,
// forwards signals and ends as the task ends.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "proxy/attendance.h"
#include "task/host/client.h"

namespace nagaya::tools {

class Proxy {
 public:
  // Reads what the task will inherit from this process; then blocks the signals that will be
  // forwarded. Throws Error.
  explicit Proxy(task::ProgramText text);
  // Restores the signal mask, so that this process can execute another program.
  ~Proxy();
  Proxy(const Proxy&) = delete;

  task::Launch launch;

  // Starts the task. Throws Error: the host refuses it.
  void start(task::Client& client);

  struct Launcher {
    base::Fd process;             // a pidfd; closed: its end is not watched
    bool signals_groups = false;  // it signals process groups, not single processes
  };
  // Called after start(): forwards signals, and ends this process as the task ends. Throws Error if
  // that is not possible. `command`: for ps(1).
  int serve(task::Client& client, const Launcher& launcher,
            const std::vector<std::string>& command);

 private:
  std::string waiter_;
  base::Fd directory_, signals_;
  sigset_t mask_before_{};
  task::Started started_{};
};

// Serves the task until it ends; then ends this process in the same way. If the launcher was
// killed, no task is left behind, because this process ends and the host kills tasks without a
// proxy. (The ranks of Open MPI 5 would stay for ever.) Throws Error.
int attend(task::Client& client, const Attendance& own);

// Handles an error of a proxy. If the host has ended, ends this process as one whose task is lost.
// Else prints the error, and returns the exit code. `client`: nullptr if it is not connected.
int end_after(const base::Error& error, const task::Client* client);

// Prints the error on standard error.
void announce(const base::Error& error);

}  // namespace nagaya::tools
