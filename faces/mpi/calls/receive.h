// SPDX-License-Identifier: BSD-3-Clause
// receive.h - receives, for the calls that receive.
#pragma once

#include "objects/data.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

nagaya_envelope wanted_by(const Communicator& comm, int from, int tag);

// The arguments have been checked. Return an error class.
int receive_and_wait(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from, int tag,
                     MPI_Status* status);
// Makes a receive that is not started.
int make_receive(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from, int tag,
                 Request*& out);
int start_receive(Request& request);

// Of a receive from MPI_PROC_NULL.
inline void set_status_of_nobody(MPI_Status& status) {
  set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
