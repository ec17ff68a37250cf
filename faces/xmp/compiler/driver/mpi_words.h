// SPDX-License-Identifier: BSD-3-Clause
// mpi_words.h - what the MPI in use adds to a compiler's command line, asked of the mpicc in PATH:
// `mpicc -show` of Open MPI, MPICH and Intel MPI prints its command.
#pragma once

#include <string>
#include <vector>

namespace nagaya::xmp {

struct MpiWords {
  std::vector<std::string> preprocessor;  // its folders, searched after all others
  std::vector<std::string> linker;
};

// Returns no words if PATH has no mpicc, or it does not answer.
MpiWords mpi_words();

}  // namespace nagaya::xmp
