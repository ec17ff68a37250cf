// SPDX-License-Identifier: BSD-3-Clause
// processes.h - an owned set of nagaya/processes.h, as faces keep one for each communicator.
#pragma once

#include <memory>
#include <vector>

#include "nagaya/processes.h"

namespace nagaya {

struct CloseProcesses {
  void operator()(nagaya_processes* set) const { nagaya_processes_close(set); }
};
using Processes = std::unique_ptr<nagaya_processes, CloseProcesses>;

// Arguments and result as those of nagaya_processes_open().
inline int open_processes(const std::vector<nagaya_process>& list, uint32_t rank, Processes& out) {
  nagaya_processes* set = nullptr;
  const int error =
      nagaya_processes_open(list.data(), static_cast<uint32_t>(list.size()), rank, &set);
  out.reset(set);
  return error;
}

}  // namespace nagaya
