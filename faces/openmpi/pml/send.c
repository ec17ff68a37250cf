/* SPDX-License-Identifier: BSD-3-Clause */
#include "send.h"

/* Sends without a request, if that is possible. Returns -EAGAIN if a request is needed. */
static int try_send(const void* buffer, size_t count, ompi_datatype_t* datatype, nagaya_process to,
                    int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                    uint32_t* serial) {
  if (mode == MCA_PML_BASE_SEND_SYNCHRONOUS || !nagaya_is_one_run(datatype, count)) return -EAGAIN;
  const nagaya_envelope envelope = pml_nagaya_envelope_to(comm, tag);
  return nagaya_match_try_send(to, &envelope, nagaya_run_start(buffer, datatype),
                               nagaya_bytes(datatype, count), serial);
}

static int start_new(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                     mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                     ompi_request_t** request) {
  pml_nagaya_send_request_t* const made =
      pml_nagaya_new_send(buffer, count, datatype, to, tag, mode, comm, false);
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  const int error = pml_nagaya_start_send(made);
  if (error == OMPI_SUCCESS)
    *request = &made->super.req_base.req_ompi;
  else
    pml_nagaya_give_back_send(made);
  return error;
}

int pml_nagaya_isend(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                     mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                     ompi_request_t** request) {
  nagaya_process peer;
  uint32_t serial;
  int error = nagaya_peer(comm, to, &peer);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, peer, tag, mode, comm, &serial);
  if (error == -EAGAIN) return start_new(buffer, count, datatype, to, tag, mode, comm, request);
  if (error != 0) return nagaya_mpi_error(error);
  const nagaya_envelope envelope = pml_nagaya_envelope_to(comm, tag);
  *request = pml_nagaya_new_completed_send(peer, &envelope, serial);
  return *request == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int pml_nagaya_send(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                    mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm) {
  nagaya_process peer;
  int error = nagaya_peer(comm, to, &peer);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, peer, tag, mode, comm, NULL);
  if (error != -EAGAIN) return nagaya_mpi_error(error);
  ompi_request_t* request;
  error = start_new(buffer, count, datatype, to, tag, mode, comm, &request);
  if (error != OMPI_SUCCESS) return error;
  error = pml_nagaya_wait_even_without_memory(request);
  if (error == OMPI_SUCCESS) error = request->req_status.MPI_ERROR;
  ompi_request_free(&request);
  return error;
}
