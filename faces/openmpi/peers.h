/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.h - where each of Open MPI's processes lives: its node and task. */
#ifndef NAGAYA_OPENMPI_PEERS_H
#define NAGAYA_OPENMPI_PEERS_H

#include "compat.h"

#include <nagaya/llcl.h>

/* Publishes where this process lives. Returns an OMPI_ERR_ code. */
int nagaya_publish_self(void);

/* Looks up where the process lives and stores that in `proc`. Called once pml/nagaya is chosen.
 * Returns OMPI_ERR_UNREACH if it is neither a task of this space nor one of this job; the first
 * such call for a process prints that, whichever component makes it. */
int nagaya_find_peer(ompi_proc_t* proc);

/* Between nagaya_hold_other_jobs() and nagaya_release_other_jobs() the communicator's processes of
 * other jobs (MPI_Comm_spawn) keep their memory and task numbers even when they end
 * (nagaya_task_hold): a message of theirs may lie here unread. */
void nagaya_hold_other_jobs(struct ompi_communicator_t* comm);
void nagaya_release_other_jobs(struct ompi_communicator_t* comm);

/* A process in one word, which Open MPI stores for us with each `proc`. Words below
 * NAGAYA_FIRST_WORD mean no process, {UINT32_MAX, UINT32_MAX}; Open MPI initialises them to 0. */
enum { NAGAYA_NOT_ASKED_FOR, NAGAYA_OUT_OF_REACH, NAGAYA_FIRST_WORD };
static inline uintptr_t nagaya_word_of(nagaya_process process) {
  return ((uintptr_t)process.node << 32 | process.task) + NAGAYA_FIRST_WORD;
}
static inline nagaya_process nagaya_process_of(uintptr_t word) {
  if (OPAL_UNLIKELY(word < NAGAYA_FIRST_WORD)) return (nagaya_process){UINT32_MAX, UINT32_MAX};
  const uintptr_t process = word - NAGAYA_FIRST_WORD;
  return (nagaya_process){(uint32_t)(process >> 32), (uint32_t)process};
}

/* Gets where a rank of the group lives. Returns an OMPI_ERR_ code. */
static inline int nagaya_process_in(ompi_group_t* group, int rank, nagaya_process* out) {
  ompi_proc_t* const proc = ompi_group_peer_lookup(group, rank);
  uintptr_t known = (uintptr_t)proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML];
  if (OPAL_UNLIKELY(known < NAGAYA_FIRST_WORD)) {
    const int error = nagaya_find_peer(proc);
    if (error != OMPI_SUCCESS) return error;
    known = (uintptr_t)proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML];
  }
  *out = nagaya_process_of(known);
  return OMPI_SUCCESS;
}

/* Gets where a rank of the communicator lives; of an intercommunicator a rank of the remote group.
 * Returns an OMPI_ERR_ code. */
static inline int nagaya_peer(struct ompi_communicator_t* comm, int rank, nagaya_process* out) {
  return nagaya_process_in(comm->c_remote_group, rank, out);
}

#endif
