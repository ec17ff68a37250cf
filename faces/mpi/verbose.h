// SPDX-License-Identifier: BSD-3-Clause
// verbose.h - with NAGAYA_MPI_VERBOSE=1 a job says on standard error who carries its messages, and
// why:
//
//   nagaya: MPI_COMM_WORLD of 4 processes: in the space
//   nagaya: a communicator of 6 processes: by the MPI: process 4 is of another job
//   nagaya: 8000 calls of point-to-point functions, 12 of collectives and 0 accesses to windows
//   went through the space
#pragma once

#include <string>

namespace nagaya::mpi {

// Returns whether the user wants such lines. Constant, and callable by any thread.
bool is_verbose();

// Prints a line if the user wants it and this is rank 0 of its job, as far as variables of its
// launcher tell: for what is found out before MPI_Init.
void tell_of_job(const std::string& text);

// Prints a line.
void tell(const std::string& text);

}  // namespace nagaya::mpi
