// SPDX-License-Identifier: BSD-3-Clause
// environment.h - the variables that Open MPI and its launchers (ORTE of 4.1, PRRTE of 5.0) set and
// read. An environment is an argument, NAME=VALUE each.
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
  bool is_forced;  // else a value of the user's own is respected
};

// The folders of components for Open MPI in this installation, each named NAME-RELEASE after the
// release that they were built for. May be none.
std::vector<std::string> installed_components();

// Lets mpirun start more processes than there are processors. By variables, so that an argument of
// the user's own still counts: with --oversubscribe Open MPI 5 puts all processes on the first
// host.
std::vector<Setting> oversubscribing_settings();

// Lets mpirun start `agent`, a command, in each process's stead, those of MPI_Comm_spawn too.
// `version`: what `mpirun --version` says.
std::vector<Setting> agent_settings(const std::string& agent, const std::string& version);

// The arguments by which mpirun takes the variables of Nagaya and libfabric to other hosts; it
// takes no others than Open MPI's own by itself.
std::vector<std::string> export_arguments(const std::vector<std::string>& environment);

// A process that mpirun has started, as far as its environment tells.
struct Rank {
  std::string job;     // its name space: another one for each MPI_Comm_spawn
  std::string random;  // one for each mpirun, inherited by the jobs that it spawns; "": not known
  int64_t local_size;  // processes of the job on this node
  int64_t local_rank;
};
std::optional<Rank> rank_of(const std::vector<std::string>& environment);

// Whether Open MPI has started the process; rank_of() also needs what the launcher tells of the
// node.
bool is_rank(const std::vector<std::string>& environment);

}  // namespace nagaya::openmpi
