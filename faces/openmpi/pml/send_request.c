/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "send.h"

void pml_nagaya_give_back_send(pml_nagaya_send_request_t* request) {
  pml_nagaya_forget_copy(request);
  OMPI_REQUEST_FINI(&request->super.req_base.req_ompi);
  OBJ_RELEASE(request->super.req_base.req_comm);
  OMPI_DATATYPE_RELEASE(request->super.req_base.req_datatype);
  opal_free_list_return(&mca_pml_base_send_requests, (opal_free_list_item_t*)request);
}

static void leave(pml_nagaya_send_request_t* request) {
  if (pml_nagaya_leave(&request->users)) pml_nagaya_give_back_send(request);
}

void pml_nagaya_end_send(pml_nagaya_send_request_t* request, bool is_cancelled, int error) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  base->req_ompi.req_status.MPI_ERROR = nagaya_mpi_error(error);
  base->req_ompi.req_status._cancelled = is_cancelled;
  base->req_pml_complete = true;
  ompi_request_complete(&base->req_ompi, true);
  leave(request);
}

static void on_complete(nagaya_send* send) {
  pml_nagaya_send_request_t* const request =
      (pml_nagaya_send_request_t*)((char*)send - offsetof(pml_nagaya_send_request_t, send));
  pml_nagaya_free_packed(request);
  pml_nagaya_end_send(request, send->is_cancelled, send->error);
}

static int free_request(ompi_request_t** handle) {
  pml_nagaya_send_request_t* const request = (pml_nagaya_send_request_t*)*handle;
  request->super.req_base.req_free_called = true;
  leave(request);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static void construct(pml_nagaya_send_request_t* request) {
  request->super.req_base.req_type = MCA_PML_REQUEST_SEND;
  request->super.req_base.req_ompi.req_start = pml_nagaya_start;
  request->super.req_base.req_ompi.req_free = free_request;
  request->super.req_base.req_ompi.req_cancel = pml_nagaya_cancel_send;
  request->send.complete = on_complete;
  request->runs = NULL;
}
static void destruct(pml_nagaya_send_request_t* request) {
  free(request->runs);
}
OBJ_CLASS_INSTANCE(pml_nagaya_send_request_t, mca_pml_base_send_request_t, construct, destruct);

pml_nagaya_send_request_t* pml_nagaya_new_send(const void* buffer, size_t count,
                                               ompi_datatype_t* datatype, int to,
                                               const pml_nagaya_target* target,
                                               mca_pml_base_send_mode_t mode,
                                               struct ompi_communicator_t* comm, bool persistent) {
  pml_nagaya_send_request_t* const request =
      (pml_nagaya_send_request_t*)opal_free_list_get(&mca_pml_base_send_requests);
  if (request == NULL) return NULL;
  mca_pml_base_request_t* const base = &request->super.req_base;
  OBJ_RETAIN(comm);
  OMPI_DATATYPE_RETAIN(datatype);
  OMPI_REQUEST_INIT(&base->req_ompi, persistent);
  base->req_ompi.req_mpi_object.comm = comm;
  base->req_ompi.req_status.MPI_ERROR = OMPI_SUCCESS;
  base->req_ompi.req_status._cancelled = 0;
  base->req_pml_complete = true;
  base->req_free_called = false;
  base->req_addr = (void*)buffer;
  base->req_count = count;
  base->req_datatype = datatype;
  base->req_peer = to;
  base->req_tag = target->envelope.tag;
  base->req_comm = comm;
  request->users = 1;
  request->buffered = NULL;
  request->send.to = target->process;
  request->send.envelope = target->envelope;
  request->super.req_addr = buffer;
  request->super.req_send_mode = mode;
  request->super.req_bytes_packed = nagaya_bytes(datatype, count);
  return request;
}
