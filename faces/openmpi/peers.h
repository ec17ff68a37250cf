/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.h - Open MPI's processes as Nagaya's: where each lives. */
#ifndef NAGAYA_OPENMPI_PEERS_H
#define NAGAYA_OPENMPI_PEERS_H

#include "compat.h"

#include <nagaya/llcl.h>

/* Tells all others where this process lives, in the name of pml/nagaya. An OMPI_ERR_ code. */
int nagaya_publish_self(const mca_base_component_t* pml);

/* Asks where the process lives, once pml/nagaya is chosen. OMPI_ERR_UNREACH: it is neither a task
 * of this space nor one of this job. */
int nagaya_find_peer(ompi_proc_t* proc);

/* A process in one word, as Open MPI keeps it for us. 0: none, {UINT32_MAX, UINT32_MAX}. */
static inline uintptr_t nagaya_word_of(nagaya_process process) {
  return ((uintptr_t)process.node << 32 | process.task) + 1;
}
static inline nagaya_process nagaya_process_of(uintptr_t word) {
  const nagaya_process process = {(uint32_t)((word - 1) >> 32), (uint32_t)(word - 1)};
  return process;
}

/* Where a rank of the group lives; an OMPI_ERR_ code. */
static inline int nagaya_process_in(ompi_group_t* group, int rank, nagaya_process* out) {
  ompi_proc_t* const proc = ompi_group_peer_lookup(group, rank);
  uintptr_t known = (uintptr_t)proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML];
  if (OPAL_UNLIKELY(known == 0)) {
    const int error = nagaya_find_peer(proc);
    if (error != OMPI_SUCCESS) return error;
    known = (uintptr_t)proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML];
  }
  *out = nagaya_process_of(known);
  return OMPI_SUCCESS;
}

/* The same of the communicator; of an intercommunicator: of the remote group. */
static inline int nagaya_peer(struct ompi_communicator_t* comm, int rank, nagaya_process* out) {
  return nagaya_process_in(comm->c_remote_group, rank, out);
}

#endif
