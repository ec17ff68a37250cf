// SPDX-License-Identifier: BSD-3-Clause
// start.h - requests that are made and started.
#pragma once

#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Starts a request of any kind that is not active. Returns an error class: then it is still not
// active.
int start_request(Request& request);

// Ends a call that makes a request: gives the program its handle, or frees it (unless it is
// nullptr) and raises the error. Returns the error class.
int hand_out(Communicator& comm, Request* request, int error, MPI_Request* out);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
