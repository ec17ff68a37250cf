// SPDX-License-Identifier: BSD-3-Clause
// check.h - wrong arguments of calls on communicators that are ours: the classes that the standard
// names.
#pragma once

#include "objects/communicator.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

inline int check_send(const Communicator& comm, long long count, int to, int tag) {
  if (count < 0) return MPI_ERR_COUNT;
  if (!comm.has(to) && to != MPI_PROC_NULL) return MPI_ERR_RANK;
  if (tag < 0) return MPI_ERR_TAG;
  return MPI_SUCCESS;
}

inline int check_probe(const Communicator& comm, int from, int tag) {
  if (!comm.has(from) && from != MPI_ANY_SOURCE && from != MPI_PROC_NULL) return MPI_ERR_RANK;
  if (tag < 0 && tag != MPI_ANY_TAG) return MPI_ERR_TAG;
  return MPI_SUCCESS;
}

inline int check_receive(const Communicator& comm, long long count, int from, int tag) {
  return count < 0 ? MPI_ERR_COUNT : check_probe(comm, from, tag);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
