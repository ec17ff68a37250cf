// SPDX-License-Identifier: BSD-3-Clause
// report.h - the lines of NAGAYA_MPI_VERBOSE (verbose.h) about communicators and calls, and the
// line about a call that ends the job.
#pragma once

#include <string>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Communicator;

// Says who carries a communicator that has just been made; its rank 0 does. Nothing is said about
// MPI_COMM_SELF.
//
//   obstacle   why the MPI beneath carries it; "": it is ours
void tell_of_communicator(MPI_Comm handle, const std::string& obstacle);

// Says how many calls of the job were ours, if MPI_COMM_WORLD is: called by all of its processes at
// the beginning of MPI_Finalize, collective by the MPI beneath.
void tell_of_calls();

// Called before our function that has failed calls the error handler: if that ends the job, says
// which function it is. The MPI names MPI_Comm_call_errhandler or MPI_Win_call_errhandler.
[[gnu::cold]] void tell_of_failure(MPI_Comm handle);
[[gnu::cold]] void tell_of_failure(MPI_Win handle, const Communicator& comm);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
