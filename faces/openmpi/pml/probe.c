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

/* Looks once more when nothing was there, after what has come meanwhile. */
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
  return error == -EAGAIN ? OMPI_SUCCESS : pml_nagaya_error(error);
}

int pml_nagaya_probe(int from, int tag, struct ompi_communicator_t* comm,
                     ompi_status_public_t* status) {
  int matched = 0, error = OMPI_SUCCESS;
  while (error == OMPI_SUCCESS && !matched)
    error = pml_nagaya_iprobe(from, tag, comm, &matched, status);
  return error;
}

int pml_nagaya_improbe(int from, int tag, struct ompi_communicator_t* comm, int* matched,
                       struct ompi_message_t** message, ompi_status_public_t* status) {
  const nagaya_envelope wanted = wanted_from(from, tag, comm);
  nagaya_message_description found;
  nagaya_message* taken;
  ompi_message_t* const made = ompi_message_alloc();
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  int error = nagaya_match_take(&wanted, &found, &taken);
  if (error == -EAGAIN) {
    opal_progress();
    error = nagaya_match_take(&wanted, &found, &taken);
  }
  *matched = error == 0;
  if (error != 0) {
    ompi_message_return(made);
    *message = MPI_MESSAGE_NULL;
    return error == -EAGAIN ? OMPI_SUCCESS : pml_nagaya_error(error);
  }
  fill(&found, status);
  made->comm = comm;
  made->req_ptr = taken;
  made->peer = found.envelope.source;
  made->count = found.bytes;
  *message = made;
  return OMPI_SUCCESS;
}

int pml_nagaya_mprobe(int from, int tag, struct ompi_communicator_t* comm,
                      struct ompi_message_t** message, ompi_status_public_t* status) {
  int matched = 0, error = OMPI_SUCCESS;
  while (error == OMPI_SUCCESS && !matched)
    error = pml_nagaya_improbe(from, tag, comm, &matched, message, status);
  return error;
}
