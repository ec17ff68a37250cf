// SPDX-License-Identifier: BSD-3-Clause
// mpi_library.h - finds the MPI that a program would load, and tells whose it is. Neither the
// program nor its MPI is run; a Python is run to ask for its mpi4py.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/load/program.h"

namespace nagaya::tools {

struct MpiLibrary {
  std::string path;
  bool is_open_mpi = false;      // else it has MPICH's ABI: MPICH, Intel MPI, MVAPICH
  bool has_pmi_library = false;  // it asks its launcher through libpmi, libpmi2 or libpmix
};

// Returns the MPI that the program's dynamic linker would load (for Python: the one that mpi4py
// would load); none: it is a program without MPI, or loads one later. Throws Error -ENOENT when the
// MPI that the program is linked with is not found.
std::optional<MpiLibrary> mpi_of_program(const task::ProgramText& text);

// Returns the MPI of the program that a command line starts.
std::optional<MpiLibrary> mpi_of_command(const std::vector<std::string>& command);

// Returns the libpmix that lies beside the library of the command's MPI; "": there is none.
std::string libpmix_of_mpi(const std::vector<std::string>& command);

// An MPI by its name and version, for example {"Open MPI", "4.1.4"}.
struct MpiRelease {
  std::string name;
  std::string version;  // "": the library does not tell it by its constants

  std::string text() const { return version.empty() ? name : name + " " + version; }
};

// Returns the release that the constants of the library's file tell.
MpiRelease release_of(const MpiLibrary& library);

// Finds the release in the content of that file.
MpiRelease release_in(std::string_view content);

}  // namespace nagaya::tools
