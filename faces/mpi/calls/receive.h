// SPDX-License-Identifier: BSD-3-Clause
// receive.h - receives, for the calls that receive.
#pragma once

#include <algorithm>

#include "objects/data.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

nagaya_envelope wanted_by(const Communicator& comm, int from, int tag);

// The arguments of all have been checked. Each returns an error class.

int receive_and_wait(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from,
                     int tag, MPI_Status* status);
// Makes a receive that is not started.
int make_receive(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from,
                 int tag, Request*& out);
// `taken`: the message of a matched probe to receive, or nullptr. After an error the request is not
// active.
int start_receive(Request& request, nagaya_message* taken = nullptr);
// Waits for a receive that is started. A receive that gets no memory for its message is cancelled.
int wait_for_receive(nagaya_receive& receive);
// Ends a started request of make_receive(), which is freed: waits for it, and stores its status.
int finish_receive(Request* request, MPI_Status* status);

// Sets the status of a receive from MPI_PROC_NULL.
inline void set_status_of_nobody(MPI_Status& status) {
  set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

// Sets the status of a complete receive.
inline void set_status_of(const nagaya_receive& receive, MPI_Status& status) {
  set_status(status, receive.matched.source, receive.matched.tag,
             std::min(receive.bytes, receive.capacity), false);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
