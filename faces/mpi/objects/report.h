// SPDX-License-Identifier: BSD-3-Clause
// report.h - the lines of NAGAYA_MPI_VERBOSE (verbose.h) about communicators and calls.
#pragma once

#include <string>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Says who carries a communicator that has just been made; its rank 0 does. Nothing is said about
// MPI_COMM_SELF.
//
//   obstacle   why the MPI beneath carries it; "": it is ours
void tell_of_communicator(MPI_Comm handle, const std::string& obstacle);

// Says how many calls of the job were ours, if MPI_COMM_WORLD is: called by all of its processes at
// the beginning of MPI_Finalize, collective by the MPI beneath.
void tell_of_calls();

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
