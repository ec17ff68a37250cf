// SPDX-License-Identifier: BSD-3-Clause
// rank_processes.h - the processes of a job's ranks: tasks of one space, or ordinary processes.
#pragma once

#include <sched.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "death.h"

namespace nagaya::tools {

// Program, variables and streams with which a rank starts.
struct RankStart {
  uint32_t index = 0;  // among all ranks of this launcher
  std::vector<std::string> command;
  std::string directory;                         // "": that of this process
  std::vector<std::string> environment;          // NAME=VALUE
  std::vector<std::pair<int, int>> descriptors;  // of this process, and its number in the rank's
  int kept_descriptor = -1;                      // its number: programs behind wrappers get it, too
  std::optional<cpu_set_t> processors;           // nullopt: those of this process
  bool may_choose_number = true;                 // else: the task number is the index
};

// A rank's program that is not found, or cannot be run. The text names it.
class CannotRun : public base::Error {
 public:
  using Error::Error;
  explicit CannotRun(const base::Error& reason) : Error(reason) {}
};

struct RankEnd {
  uint32_t index;
  Death death;
};

// Not thread-safe. The destructor ends what still runs.
class RankProcesses {
 public:
  virtual ~RankProcesses() = default;

  // Throws CannotRun, or Error: nothing was started.
  virtual void start(const RankStart& rank) = 0;
  // Returns the end of a rank's process; nullopt: no other one has ended. Throws Error when a rank
  // never reached its program, or all are lost.
  virtual std::optional<RankEnd> take_ended() = 0;
  // Returns variables for the environment of each rank.
  virtual std::vector<std::string> environment() const = 0;
  virtual void signal(uint32_t index, int signal) = 0;  // nothing if it has ended
  virtual void signal_all(int signal) = 0;
  // Called when a rank's whole job has ended, and others go on: its number may be used again.
  virtual void forget(uint32_t index) = 0;
  // Called when a rank's MPI has begun or ended: what the rank executes meanwhile is no rank.
  virtual void note_communication(uint32_t index, bool has_begun) = 0;
  // A descriptor that is readable once a rank has ended; -1: SIGCHLD tells.
  virtual int fd() const = 0;
};

// Ranks inherit this thread's signal mask, and what else a child inherits, as they are now.
// `job`: the name of the space, for `count` ranks; MPI_Comm_spawn may add others. Throws Error.
std::unique_ptr<RankProcesses> make_tasks(const std::string& job, uint32_t count);
std::unique_ptr<RankProcesses> make_ordinary_processes();

}  // namespace nagaya::tools
