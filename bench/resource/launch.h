// SPDX-License-Identifier: BSD-3-Clause
// launch.h - runs the ranks of a microbenchmark in one of the modes that are compared.
#pragma once

#include <string>
#include <vector>

#include "nagaya/task.h"
#include "order.h"

namespace nagaya::bench {

enum class Mode {
  kSpace,          // tasks of one space, as Nagaya sets them up
  kSeparate,       // separate processes with libc's own malloc settings: the incumbent
  kSeparateTuned,  // separate processes with the malloc settings that Nagaya gives tasks
  kAlone,          // one separate process, and no other at the same time
  kThreads,        // threads of one process
};
const char* name_of(Mode mode);

// Makes one space, and starts workers in it and outside of it.
class Launcher {
 public:
  Launcher();
  ~Launcher();
  Launcher(const Launcher&) = delete;

  // Runs order.ranks workers, rank r bound to processors[r % size], and returns the time of one
  // operation [ns]: the mean over ranks of each rank's median over repetitions.
  // Throws when a worker fails.
  double run(Mode mode, Order order, const std::vector<int>& processors);

 private:
  std::vector<std::string> environment(Mode mode) const;
  int start(Mode mode, const Order& order, int results, int meeting);
  bool ended_well(Mode mode, int worker);
  std::string malloc_settings_of_tasks();

  nagaya_space* space_ = nullptr;
  std::string worker_;
  std::string tuned_;  // GLIBC_TUNABLES of a task
};

}  // namespace nagaya::bench
