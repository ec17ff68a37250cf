/* SPDX-License-Identifier: BSD-3-Clause */
#include "send.h"
#include "layout.h"

/* Sends without a request, if that is possible. Returns -EAGAIN if a request is needed. */
static int try_send(const void* buffer, size_t count, ompi_datatype_t* datatype,
                    const pml_nagaya_target* target, mca_pml_base_send_mode_t mode,
                    uint32_t* serial) {
  if (mode == MCA_PML_BASE_SEND_SYNCHRONOUS) return -EAGAIN;
  const size_t bytes = nagaya_bytes(datatype, count);
  nagaya_runs all[NAGAYA_RUNS_MAX], *runs = all;
  if (nagaya_is_one_run(datatype, count))
    runs = NULL;
  else if (bytes > nagaya_match_eager_max(target->process) ||
           !nagaya_describe_runs(buffer, datatype, count, &runs))
    return -EAGAIN;
  return nagaya_match_try_send(target->process, &target->envelope,
                               nagaya_run_start(buffer, datatype), bytes, runs, serial);
}

static int start_new(const void* buffer, size_t count, ompi_datatype_t* datatype, int to,
                     const pml_nagaya_target* target, mca_pml_base_send_mode_t mode,
                     struct ompi_communicator_t* comm, ompi_request_t** request) {
  pml_nagaya_send_request_t* const made =
      pml_nagaya_new_send(buffer, count, datatype, to, target, mode, comm, false);
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
  pml_nagaya_target target;
  uint32_t serial;
  int error = pml_nagaya_find_target(comm, to, tag, &target);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, &target, mode, &serial);
  if (error == -EAGAIN) return start_new(buffer, count, datatype, to, &target, mode, comm, request);
  if (error != 0) return nagaya_mpi_error(error);
  *request = pml_nagaya_new_completed_send(target.process, &target.envelope, serial);
  return *request == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int pml_nagaya_send(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                    mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm) {
  pml_nagaya_target target;
  int error = pml_nagaya_find_target(comm, to, tag, &target);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, &target, mode, NULL);
  if (error != -EAGAIN) return nagaya_mpi_error(error);
  ompi_request_t* request;
  error = start_new(buffer, count, datatype, to, &target, mode, comm, &request);
  if (error != OMPI_SUCCESS) return error;
  error = pml_nagaya_wait_even_without_memory(request);
  if (error == OMPI_SUCCESS) error = request->req_status.MPI_ERROR;
  ompi_request_free(&request);
  return error;
}
