/* SPDX-License-Identifier: BSD-3-Clause */
/* communicator.h - the state that pml/nagaya and coll/nagaya keep of a communicator, in Open MPI's
 * pointer for the pml.
 *
 *   made    pml: add_comm, before a coll component is asked
 *   ended   pml: del_comm, before the context's number is free for another communicator
 *
 * A module of coll/nagaya may outlive its communicator, because other coll components hold it as
 * their fallback (coll/adapt for ever). So teams, whose names have the context's number, do not
 * belong to the module. */
#ifndef NAGAYA_OPENMPI_COMMUNICATOR_H
#define NAGAYA_OPENMPI_COMMUNICATOR_H

#include <stdlib.h>

#include "compat.h"

#include <nagaya/coll.h>

typedef struct nagaya_communicator {
  uint64_t mark;       /* NAGAYA_COMMUNICATOR_MARK: tells it from the state of another pml */
  nagaya_team** teams; /* by coll_nagaya_team_number(); NULL before a team's first collective */
  uint32_t teams_count;
  uint32_t persistent; /* number of requests that were made; the same at all processes */
} nagaya_communicator;

#define NAGAYA_COMMUNICATOR_MARK UINT64_C(0x4e41474159413432)

static inline nagaya_communicator* nagaya_communicator_of(struct ompi_communicator_t* comm) {
  return (nagaya_communicator*)comm->c_pml_comm;
}

/* Whether pml/nagaya handles the communicator's messages, also behind a layer (pml/monitoring).
 * The mark can be read: all pmls of Open MPI keep NULL or memory of their own in c_pml_comm. */
static inline bool nagaya_is_pml_of(struct ompi_communicator_t* comm) {
  const nagaya_communicator* const own = nagaya_communicator_of(comm);
  return own != NULL && own->mark == NAGAYA_COMMUNICATOR_MARK;
}

static inline int nagaya_begin_communicator(struct ompi_communicator_t* comm) {
  nagaya_communicator* const own = calloc(1, sizeof *own);
  if (own == NULL) return MPI_ERR_NO_MEM;
  own->mark = NAGAYA_COMMUNICATOR_MARK;
  comm->c_pml_comm = (struct mca_pml_comm_t*)own;
  return OMPI_SUCCESS;
}

/* Closes the teams and frees the state. No collective is pending: requests hold their
 * communicator. */
static inline void nagaya_end_communicator(struct ompi_communicator_t* comm) {
  nagaya_communicator* const own = nagaya_communicator_of(comm);
  if (own == NULL) return;
  for (uint32_t n = 0; n < own->teams_count; ++n)
    if (own->teams[n] != NULL) nagaya_coll_close(own->teams[n]);
  free(own->teams);
  free(own);
  comm->c_pml_comm = NULL;
}

#endif
