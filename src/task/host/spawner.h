// SPDX-License-Identifier: BSD-3-Clause
// spawner.h - clones a loaded task out of the host.
#pragma once

#include <memory>
#include <vector>

#include "task/host/wire.h"
#include "task/load/loader.h"

namespace nagaya::task {

// A cloned task, until the host has seen its end. It holds all that the clone reads while it
// starts: its Start, and the data that it points to.
struct LiveTask {
  TaskRecord* record = nullptr;
  int32_t pid = 0;
  std::string program;          // absolute path
  std::string group;            // of the client that launched it
  bool kept = false;            // its creator frees it; otherwise it stays until its job has ended
  bool is_first_fault = false;  // no task of the host was ended by a fault before
  Start start{};
  Inheritance inherit{};
  std::vector<DescriptorMove> moves;
};

// Loads and clones the task that `launch` describes into the partition of `task.record`, which the
// caller has set. Only the host's main thread may call this: its end is what kills the tasks
// (PR_SET_PDEATHSIG belongs to the creating thread). All signals are blocked. Throws Error, and
// nothing once the clone exists; the caller then closes the record.
void spawn(Loader& loader, LiveTask& task, const Launch& launch,
           const std::vector<base::Fd>& descriptors);

}  // namespace nagaya::task
