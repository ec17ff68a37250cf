/* SPDX-License-Identifier: BSD-3-Clause */
#include "send.h"

/* Describes the data to the receiver. Returns whether it can read them from where they lie. */
static bool describe(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  if (!nagaya_describe_runs(base->req_addr, base->req_datatype, base->req_count, &request->runs))
    return false;
  request->send.runs = request->runs;
  return true;
}

int pml_nagaya_start_send(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  nagaya_send* const send = &request->send;
  int error;
  pml_nagaya_forget_copy(request); /* another thread may complete the copy of the start before */
  pml_nagaya_enter(&request->users);
  base->req_ompi.req_complete = REQUEST_PENDING;
  base->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
  base->req_ompi.req_status._cancelled = 0;
  base->req_pml_complete = false;
  send->bytes = request->super.req_bytes_packed;
  send->runs = NULL;
  send->is_control = 0;
  send->is_synchronous = request->super.req_send_mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
  if (pml_nagaya_sends_copy(request))
    error = pml_nagaya_start_buffered(request);
  else if (nagaya_is_one_run(base->req_datatype, base->req_count)) {
    send->data = nagaya_run_start(base->req_addr, base->req_datatype);
    error = nagaya_mpi_error(nagaya_match_send(send));
  } else if (describe(request))
    error = nagaya_mpi_error(nagaya_match_send(send));
  else
    error = pml_nagaya_start_packed(request);
  if (error != OMPI_SUCCESS) {
    pml_nagaya_free_packed(request);
    base->req_pml_complete = true;
    pml_nagaya_leave(&request->users);
  }
  return error;
}

int pml_nagaya_isend_init(const void* buffer, size_t count, ompi_datatype_t* datatype, int to,
                          int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                          ompi_request_t** request) {
  pml_nagaya_target target;
  const int error = pml_nagaya_find_target(comm, to, tag, &target);
  if (error != OMPI_SUCCESS) return error;
  pml_nagaya_send_request_t* const made =
      pml_nagaya_new_send(buffer, count, datatype, to, &target, mode, comm, true);
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  *request = &made->super.req_base.req_ompi;
  return OMPI_SUCCESS;
}
