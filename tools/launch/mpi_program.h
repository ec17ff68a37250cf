// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - finds the launcher that starts a program: the mpirun of the MPI that the program
// would load, or, for a program without MPI, a launcher that reaches other hosts. Gives the options
// by which each launcher is told of the hosts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi_library.h"

namespace nagaya::tools {

enum class LauncherKind { kNone, kOpenMpi, kMpich, kSlurm };

struct Launcher {
  LauncherKind kind = LauncherKind::kNone;
  std::string path;
  std::string version;  // the output of `mpirun --version`
};

// Returns the mpirun of the MPI with this library. Throws Error -ENOENT: there is none.
Launcher launcher_of_mpi(const MpiLibrary& library);

// Returns true if this installation has components for the launcher's release of Open MPI.
bool has_components(const Launcher& launcher);

// Returns the launcher for a program without MPI: srun inside a Slurm allocation, else the mpirun
// of an installed MPI, Open MPI's first. Throws Error -ENOENT when there is none.
Launcher launcher_among_hosts();

// The hosts that the user has chosen; this host if neither field is set.
struct HostChoice {
  std::optional<std::string> list;  // "a,b" or, with numbers of slots, "a:2,b:4"
  std::optional<std::string> file;  // a host per line, in the launcher's own format
};

// Returns the names of the hosts, without numbers of slots, as the launcher has to resolve them.
// Throws Error -EINVAL when a name in the list is empty or the file names none; also throws when
// the file cannot be read.
std::vector<std::string> names_of(const HostChoice& hosts);

// Throws Error -EHOSTUNREACH for a host that the launcher would accept silently: hydra waits for
// ever for a host without an address; srun replaces a host that is not in its allocation by others.
void require_known(LauncherKind kind, const std::vector<std::string>& names);

// Returns the launcher's options for these hosts.
std::vector<std::string> host_options(LauncherKind kind, const HostChoice& hosts);

}  // namespace nagaya::tools
