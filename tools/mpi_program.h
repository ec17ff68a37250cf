// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - the launcher that starts a program: that of the MPI which it is linked with, or
// for a program without MPI one that reaches other hosts; and how each is told of the hosts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/load/program.h"

namespace nagaya::tools {

enum class LauncherKind { kNone, kOpenMpi, kMpich, kSlurm };

struct Launcher {
  LauncherKind kind = LauncherKind::kNone;
  std::string path;
  std::string version;  // what `mpirun --version` says
};

// The library of the MPI that the program's dynamic linker would load (for Python: that mpi4py
// would); "": it is a program without MPI.
std::string mpi_of_program(const task::ProgramText& text);

// The mpirun of that MPI. Throws Error -ENOENT: there is none.
Launcher launcher_of_mpi(const std::string& library);

// Whether this installation has components for the launcher's release of Open MPI.
bool has_components(const Launcher& launcher);

// For a program without MPI: srun inside a Slurm allocation, else the mpirun of whichever MPI is
// installed, Open MPI's first. Throws Error -ENOENT when there is none.
Launcher launcher_among_hosts();

// On which hosts, as the user says it; this one when neither is said.
struct HostChoice {
  std::optional<std::string> list;  // "a,b" or, with numbers of slots, "a:2,b:4"
  std::optional<std::string> file;  // a host per line, in the launcher's own format
};

// As the launcher has to resolve them: without numbers of slots. Throws Error -EINVAL when a name
// in the list is empty or the file names none, and of the file's own errors.
std::vector<std::string> names_of(const HostChoice& hosts);

// Throws Error -EHOSTUNREACH for a host that the launcher itself would not complain of: hydra waits
// for ever for one without an address, srun takes others for one that is not in its allocation.
void require_known(LauncherKind kind, const std::vector<std::string>& names);

// The launcher's options for these hosts.
std::vector<std::string> host_options(LauncherKind kind, const HostChoice& hosts);

}  // namespace nagaya::tools
