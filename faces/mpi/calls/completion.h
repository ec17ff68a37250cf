// SPDX-License-Identifier: BSD-3-Clause
// completion.h - what Wait and Test do with a request of ours.
#pragma once

#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Stores the status of a complete request.
int store_status(const Request& request, MPI_Status* status);

// Ends a complete request: stores its status, and frees it, or makes it inactive if it is persistent. Returns
// its error class, which is not raised.
int finish(Request* request, MPI_Request& handle, MPI_Status* status);

// Of a handle that is null or inactive.
inline void set_empty_status(MPI_Status& status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
  status.MPI_ERROR = MPI_SUCCESS;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
