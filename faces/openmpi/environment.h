// SPDX-License-Identifier: BSD-3-Clause
// environment.h - the variables that Open MPI and its launchers (ORTE of 4.1, PRRTE of 5.0) set and
// read. Functions get an environment as strings NAME=VALUE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nagaya::openmpi {

// A variable for the environment of mpirun or of a task.
struct Setting {
  const char* name;
  std::string value;
  bool is_forced;  // overrides a value of the user's own
};

// Returns the folders of components for Open MPI in this installation, each named NAME-RELEASE
// after the release that they were built for. There may be none.
std::vector<std::string> installed_components();

// Returns true if there are components for this release of Open MPI ("4.1.4").
bool has_components_for(const std::string& release);

// Returns settings by which mpirun starts more processes than there are processors. They are
// variables, so that an argument of the user's own overrides them; and with the argument
// --oversubscribe Open MPI 5 would put all processes on the first host.
std::vector<Setting> oversubscribing_settings();

// Returns settings by which mpirun starts `agent`, a command, in place of each process, also of
// those of MPI_Comm_spawn. `version` is the output of `mpirun --version`.
std::vector<Setting> agent_settings(const std::string& agent, const std::string& version);

// Returns the arguments by which mpirun passes the variables of Nagaya and libfabric to other
// hosts; by itself it passes only Open MPI's own.
std::vector<std::string> export_arguments(const std::vector<std::string>& environment);

// Returns what the names of the files in /dev/shm of a job begin with: Open MPI's own shared memory
// leaves them there when its ranks are killed. `job`: the name space.
std::vector<std::string> segments_of(const std::string& job);

// A process that mpirun has started, as far as its environment tells.
struct Rank {
  std::string job;     // its name space: another one for each MPI_Comm_spawn
  std::string random;  // one for each mpirun, inherited by the jobs that it spawns; "": not known
  int64_t local_size;  // processes of the job on this node
  int64_t local_rank;
};
std::optional<Rank> rank_of(const std::vector<std::string>& environment);

// Whether Open MPI has started the process; rank_of() also needs the launcher's variables about
// the node.
bool is_rank(const std::vector<std::string>& environment);

}  // namespace nagaya::openmpi
