/* SPDX-License-Identifier: BSD-3-Clause */
#include "pml_nagaya.h"

static nagaya_envelope wanted_from(int from, int tag, struct ompi_communicator_t* comm) {
  const nagaya_envelope wanted = {nagaya_context_of(comm),
                                  from == OMPI_ANY_SOURCE ? NAGAYA_ANY_SOURCE : from,
                                  tag == OMPI_ANY_TAG ? NAGAYA_ANY_TAG : tag};
  return wanted;
}

static void fill(const nagaya_message_description* found, ompi_status_public_t* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = found->envelope.source;
  status->MPI_TAG = found->envelope.tag;
  status->_ucount = found->bytes;
  status->_cancelled = 0;
}

/* If no message matches, handles arrived messages and probes once more. */
int pml_nagaya_iprobe(int from, int tag, struct ompi_communicator_t* comm, int* matched,
                      ompi_status_public_t* status) {
  const nagaya_envelope wanted = wanted_from(from, tag, comm);
  nagaya_message_description found;
  int error = nagaya_match_probe(&wanted, &found);
  if (error == -EAGAIN) {
    opal_progress();
    error = nagaya_match_probe(&wanted, &found);
  }
  *matched = error == 0;
  if (error == 0) fill(&found, status);
  return error == -EAGAIN ? OMPI_SUCCESS : nagaya_mpi_error(error);
}

/* A probe that waits, and the message that it has found. */
struct waiting_probe {
  nagaya_envelope wanted;
  nagaya_message_description found;
  nagaya_message** taken; /* NULL: the message stays */
  int error;
};

static int has_found(void* context) {
  struct waiting_probe* const probe = context;
  probe->error = probe->taken == NULL
                     ? nagaya_match_probe(&probe->wanted, &probe->found)
                     : nagaya_match_take(&probe->wanted, &probe->found, probe->taken);
  return probe->error != -EAGAIN;
}

int pml_nagaya_probe(int from, int tag, struct ompi_communicator_t* comm,
                     ompi_status_public_t* status) {
  struct waiting_probe probe = {.wanted = wanted_from(from, tag, comm)};
  const int error = pml_nagaya_wait_until(has_found, &probe);
  if (error != OMPI_SUCCESS) return error;
  if (probe.error == 0) fill(&probe.found, status);
  return nagaya_mpi_error(probe.error);
}

/* Fills in `made`, Open MPI's message for the one that the probe has taken. Returns it, or
 * MPI_MESSAGE_NULL if the probe has taken none. */
static struct ompi_message_t* message_of(const struct waiting_probe* probe,
                                         struct ompi_communicator_t* comm, ompi_message_t* made) {
  if (probe->error != 0) {
    ompi_message_return(made);
    return MPI_MESSAGE_NULL;
  }
  OBJ_RETAIN(comm); /* until its receive has begun: the program may free it before */
  made->comm = comm;
  made->req_ptr = *probe->taken;
  made->peer = probe->found.envelope.source;
  made->count = probe->found.bytes;
  return made;
}

int pml_nagaya_improbe(int from, int tag, struct ompi_communicator_t* comm, int* matched,
                       struct ompi_message_t** message, ompi_status_public_t* status) {
  nagaya_message* taken;
  struct waiting_probe probe = {.wanted = wanted_from(from, tag, comm), .taken = &taken};
  ompi_message_t* const made = ompi_message_alloc();
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  if (!has_found(&probe)) {
    opal_progress();
    has_found(&probe);
  }
  *matched = probe.error == 0;
  if (probe.error == 0) fill(&probe.found, status);
  *message = message_of(&probe, comm, made);
  return probe.error == -EAGAIN ? OMPI_SUCCESS : nagaya_mpi_error(probe.error);
}

int pml_nagaya_mprobe(int from, int tag, struct ompi_communicator_t* comm,
                      struct ompi_message_t** message, ompi_status_public_t* status) {
  nagaya_message* taken;
  struct waiting_probe probe = {.wanted = wanted_from(from, tag, comm), .taken = &taken};
  ompi_message_t* const made = ompi_message_alloc();
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  if (pml_nagaya_wait_until(has_found, &probe) != OMPI_SUCCESS) probe.error = -ENOMEM;
  if (probe.error == 0) fill(&probe.found, status);
  *message = message_of(&probe, comm, made);
  return nagaya_mpi_error(probe.error);
}
