// SPDX-License-Identifier: BSD-3-Clause
// send.h - sends, for the calls that send.
#pragma once

#include "objects/data.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// The arguments have been checked; `to` is not MPI_PROC_NULL. Returns an error class.
int send_and_wait(Mode mode, Communicator& comm, const void* buffer, size_t count,
                  MPI_Datatype type, int to, int tag);

// Makes a send that is not started. The arguments have been checked. Returns an error class.
int make_send(Mode mode, Communicator& comm, const void* buffer, size_t count, MPI_Datatype type,
              int to, int tag, Request*& out);
// Starts a send. Returns an error class: then it is not active.
int start_send(Request& request);
// Copies the data of a buffer into one run, which the caller frees. Returns an error class.
int copy_data(const void* buffer, size_t count, MPI_Datatype type, void*& copy, size_t& bytes);

// Sends a copy in the program's buffer if the message does not leave at once (buffered.cc).
int start_buffered(Request& request);
// Sends if that is possible at once, as match.h has it. Returns -EAGAIN if it is not.
int try_to_send(nagaya_send& send);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
