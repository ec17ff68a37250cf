// SPDX-License-Identifier: BSD-3-Clause
// completion.h - what Wait and Test do with a request of ours.
#pragma once

#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Whether a wait for the request ends.
inline bool is_over(Request& request) {
  return !request.is_active || request.is_complete();
}

// Called when arrived messages wait for memory. Ends a pending receive, whose message may be among
// them, with that error; the message is not lost.
void fail_receive(Request& request);

// Stores the status of a complete request. Returns its error class.
int store_status(const Request& request, MPI_Status* status);

// Ends a request that is over: stores its status, and frees it, or makes it inactive if it is
// persistent. Returns its error class, which is not raised.
int finish(Request* request, MPI_Request& handle, MPI_Status* status);
// Raises the error, too.
int finish_and_raise(Request* request, MPI_Request& handle, MPI_Status* status);

// MPI_Request_get_status.
int get_status(MPI_Request handle, int* flag, MPI_Status* status);

// Sets the status of a handle that is null or inactive.
inline void set_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
  status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
