// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - which MPI, if any, a program is linked with.
#pragma once

#include <string>

#include "task/loader.h"

namespace nagaya::tools {

enum class MpiKind { kNone, kOpenMpi, kMpich };

struct MpiProgram {
  MpiKind kind = MpiKind::kNone;
  std::string library;   // the libmpi that the program loads
  std::string launcher;  // that MPI's own mpirun
};

// Asks the program's dynamic linker what it would load (for Python: what mpi4py would). Throws
// Error -ENOENT when the program uses an MPI whose mpirun is not found.
MpiProgram find_mpi(const task::ProgramText& text);

}  // namespace nagaya::tools
