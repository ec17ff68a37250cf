// SPDX-License-Identifier: BSD-3-Clause
// calls.h - our functions of MPI, by chapter. Each chapter enters its own.
#pragma once

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

void add_start_and_end(Functions& ours);
void add_sends(Functions& ours);
void add_receives(Functions& ours);
void add_buffer(Functions& ours);
void add_starts(Functions& ours);
void add_probes(Functions& ours);
void add_exchanges(Functions& ours);
void add_cancel(Functions& ours);
void add_completion(Functions& ours);
void add_completion_of_several(Functions& ours);
void add_request_status(Functions& ours);
void add_handles(Functions& ours);
void add_communicators(Functions& ours);
void add_collectives(Functions& ours);
void add_neighbours(Functions& ours);
void add_duplicates(Functions& ours);
void add_windows(Functions& ours);
void add_window_accesses(Functions& ours);
void add_window_synchronisation(Functions& ours);
void add_window_inquiry(Functions& ours);

// Enters the functions of windows, and MPI_Init.
inline void add_calls_of_windows(Functions& ours) {
  add_start_and_end(ours);
  add_windows(ours);
  add_window_accesses(ours);
  add_window_synchronisation(ours);
  add_window_inquiry(ours);
}

// Enters all that are ours.
inline void add_calls(Functions& ours) {
  add_calls_of_windows(ours);
  add_sends(ours);
  add_receives(ours);
  add_buffer(ours);
  add_starts(ours);
  add_probes(ours);
  add_exchanges(ours);
  add_cancel(ours);
  add_completion(ours);
  add_completion_of_several(ours);
  add_request_status(ours);
  add_handles(ours);
  add_communicators(ours);
  add_collectives(ours);
  add_neighbours(ours);
  add_duplicates(ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
