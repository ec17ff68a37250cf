// SPDX-License-Identifier: BSD-3-Clause
// spawner.h - clones a loaded task out of the host.
#pragma once

#include <vector>

#include "task/host/wire.h"
#include "task/load/loader.h"

namespace nagaya::task {

// A cloned task, until the host has seen its end. Holds all data that the clone reads while it
// starts: `start`, and the data to which `start` points.
struct LiveTask {
  TaskRecord* record = nullptr;  // nullptr: the process has left the space by an execve
  uint32_t number = 0;           // which the client knows; a follower's task may have got it since
  int32_t pid = 0;
  std::string program;  // absolute path
  std::string command;  // shown_command()
  std::string group;    // of the client that launched it
  int client = -1;  // the socket of the client that launched it, which is told its end; -1: gone
  int leader = -1;  // that of the client whose end ends it, too (Host::Client::leader)
  int32_t stands_for = -1;           // a rank of its job (wire.h)
  bool follows = false;              // a follower has launched it
  bool is_freed_by_creator = false;  // else it stays until its job ends
  int32_t wait_status = 0;           // as of waitpid(2), once ended
  bool is_first_fault = false;       // it is the host's first task that died of a fault
  Start start{};
  Inheritance inherit{};
  std::vector<DescriptorMove> moves;
};

// Loads and clones the task that `launch` describes into the partition of `task.record`, which the
// caller has set. The task's parent is `reaper`, which is this process's parent, too: the kernel
// kills the task when the reaper ends. `descriptors`: those that launch.descriptor_numbers name, in
// order, then the working directory. All signals are blocked. Throws Error if no clone was made
// (the caller then closes the record); once the clone exists, throws nothing.
void spawn(Loader& loader, pid_t reaper, LiveTask& task, const Launch& launch,
           const std::vector<base::Fd>& descriptors);

}  // namespace nagaya::task
