// SPDX-License-Identifier: BSD-3-Clause
// send.h - sends, for the calls that send.
#pragma once

#include "objects/data.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

enum class Mode : uint8_t { kStandard, kBuffered, kSynchronous };

// The arguments have been checked; `to` is not MPI_PROC_NULL. Return an error class.
int send_and_wait(Mode mode, const Communicator& comm, const void* buffer, size_t count, MPI_Datatype type,
                  int to, int tag);
// Makes a send that is not started.
int make_send(Mode mode, Communicator& comm, const void* buffer, size_t count, MPI_Datatype type, int to,
              int tag, Request*& out);
int start_send(Request& request);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
