/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "pml_nagaya.h"

static pml_nagaya_receive_request_t* request_of(nagaya_receive* receive) {
  return (pml_nagaya_receive_request_t*)((char*)receive -
                                         offsetof(pml_nagaya_receive_request_t, receive));
}

/* ---- the progress of a request ----------------------------------------------------------- */

static void give_back(pml_nagaya_receive_request_t* request) {
  MCA_PML_BASE_RECV_REQUEST_FINI(&request->super);
  opal_free_list_return(&mca_pml_base_recv_requests, (opal_free_list_item_t*)request);
}

static void leave(pml_nagaya_receive_request_t* request) {
  if (pml_nagaya_leave(&request->users)) give_back(request);
}

static void end(pml_nagaya_receive_request_t* request) {
  request->super.req_base.req_pml_complete = true;
  ompi_request_complete(&request->super.req_base.req_ompi, true);
  leave(request);
}

static void on_complete(nagaya_receive* receive) {
  pml_nagaya_receive_request_t* const request = request_of(receive);
  ompi_status_public_t* const status = &request->super.req_base.req_ompi.req_status;
  status->MPI_SOURCE = receive->matched.source;
  status->MPI_TAG = receive->matched.tag;
  status->MPI_ERROR = nagaya_mpi_error(receive->error);
  status->_ucount = receive->bytes;
  request->super.req_bytes_packed = receive->bytes;
  end(request);
}

/* Unpacks the next `bytes` bytes of a message into a buffer of several runs. The convertor keeps
 * its place between two calls. */
static void scatter(nagaya_receive* receive, const void* data, size_t bytes) {
  struct iovec piece = {.iov_base = (void*)data, .iov_len = bytes};
  uint32_t pieces = 1;
  opal_convertor_unpack(&request_of(receive)->super.req_base.req_convertor, &piece, &pieces,
                        &bytes);
}

static int free_request(ompi_request_t** handle) {
  pml_nagaya_receive_request_t* const request = (pml_nagaya_receive_request_t*)*handle;
  request->super.req_base.req_free_called = true;
  leave(request);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static int cancel_request(ompi_request_t* handle, int flag) {
  pml_nagaya_receive_request_t* const request = (pml_nagaya_receive_request_t*)handle;
  if (nagaya_match_cancel_receive(&request->receive) != 0) return OMPI_SUCCESS;
  handle->req_status._cancelled = true;
  end(request);
  return OMPI_SUCCESS;
}

bool pml_nagaya_fail_receive(ompi_request_t* handle, int error) {
  pml_nagaya_receive_request_t* const request = (pml_nagaya_receive_request_t*)handle;
  if (handle->req_type != OMPI_REQUEST_PML || handle->req_cancel != cancel_request ||
      nagaya_match_cancel_receive(&request->receive) != 0)
    return false;
  handle->req_status.MPI_ERROR = error;
  end(request);
  return true;
}

static void construct(pml_nagaya_receive_request_t* request) {
  request->super.req_base.req_type = MCA_PML_REQUEST_RECV;
  request->super.req_base.req_ompi.req_start = pml_nagaya_start;
  request->super.req_base.req_ompi.req_free = free_request;
  request->super.req_base.req_ompi.req_cancel = cancel_request;
  request->receive.complete = on_complete;
  request->runs = NULL;
}
static void destruct(pml_nagaya_receive_request_t* request) {
  free(request->runs);
}
OBJ_CLASS_INSTANCE(pml_nagaya_receive_request_t, mca_pml_base_recv_request_t, construct, destruct);

static pml_nagaya_receive_request_t* new_request(void* buffer, size_t count,
                                                 ompi_datatype_t* datatype, int from, int tag,
                                                 struct ompi_communicator_t* comm,
                                                 bool persistent) {
  pml_nagaya_receive_request_t* const request =
      (pml_nagaya_receive_request_t*)opal_free_list_get(&mca_pml_base_recv_requests);
  if (request == NULL) return NULL;
  MCA_PML_BASE_RECV_REQUEST_INIT(&request->super, buffer, count, datatype, from, tag, comm,
                                 persistent);
  request->super.req_base.req_pml_complete = true;
  request->users = 1;
  return request;
}

/* Makes the request active, and describes its buffer to the receive. */
static void prepare(pml_nagaya_receive_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  nagaya_receive* const receive = &request->receive;
  pml_nagaya_enter(&request->users);
  MCA_PML_BASE_RECV_START(&request->super);
  receive->capacity = nagaya_bytes(base->req_datatype, base->req_count);
  receive->runs = NULL;
  receive->scatter = NULL;
  if (nagaya_is_one_run(base->req_datatype, base->req_count)) {
    receive->buffer = nagaya_run_start(base->req_addr, base->req_datatype);
  } else if (nagaya_describe_runs(base->req_addr, base->req_datatype, base->req_count,
                                  &request->runs)) {
    receive->runs = request->runs;
  } else {
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &base->req_datatype->super,
                                             base->req_count, base->req_addr, 0,
                                             &base->req_convertor);
    receive->scatter = scatter;
  }
}

/* Returns the sender that a receive names if it was looked up already, else no process. */
static nagaya_process likely_sender(struct ompi_communicator_t* comm, int from) {
  const ompi_proc_t* const proc =
      from == OMPI_ANY_SOURCE ? NULL : ompi_group_peer_lookup_existing(comm->c_remote_group, from);
  return nagaya_process_of(proc == NULL
                               ? NAGAYA_NOT_ASKED_FOR
                               : (uintptr_t)proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML]);
}

/* Starts a receive. The request has `from` and `tag`, too, but a value that was stored just now is
 * read back slowly. */
static int start(pml_nagaya_receive_request_t* request, int from, int tag) {
  prepare(request);
  nagaya_envelope* const wanted = &request->receive.wanted;
  wanted->context = nagaya_context_of(request->super.req_base.req_comm);
  wanted->source = from == OMPI_ANY_SOURCE ? NAGAYA_ANY_SOURCE : from;
  wanted->tag = tag == OMPI_ANY_TAG ? NAGAYA_ANY_TAG : tag;
  request->receive.from = likely_sender(request->super.req_base.req_comm, from);
  const int error = nagaya_match_receive(&request->receive);
  if (error != 0) pml_nagaya_leave(&request->users);
  return nagaya_mpi_error(error);
}

int pml_nagaya_start_receive(pml_nagaya_receive_request_t* request) {
  return start(request, request->super.req_base.req_peer, request->super.req_base.req_tag);
}

static int wait_and_free(pml_nagaya_receive_request_t* request, ompi_status_public_t* status) {
  ompi_request_t* handle = &request->super.req_base.req_ompi;
  int failed = pml_nagaya_wait(handle);
  if (failed != OMPI_SUCCESS && !pml_nagaya_fail_receive(handle, failed))
    failed = pml_nagaya_wait_even_without_memory(handle); /* its data are on their way */
  if (status != MPI_STATUS_IGNORE) OMPI_COPY_STATUS(status, handle->req_status, false);
  const int error = failed != OMPI_SUCCESS ? failed : handle->req_status.MPI_ERROR;
  free_request(&handle);
  return error;
}

/* ---- the module's functions -------------------------------------------------------------- */

int pml_nagaya_irecv_init(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                          struct ompi_communicator_t* comm, ompi_request_t** request) {
  pml_nagaya_receive_request_t* const made =
      new_request(buffer, count, datatype, from, tag, comm, true);
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  *request = &made->super.req_base.req_ompi;
  return OMPI_SUCCESS;
}

static int start_new(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                     struct ompi_communicator_t* comm, pml_nagaya_receive_request_t** out) {
  pml_nagaya_receive_request_t* const request =
      new_request(buffer, count, datatype, from, tag, comm, false);
  if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  const int error = start(request, from, tag);
  if (error != OMPI_SUCCESS)
    give_back(request);
  else
    *out = request;
  return error;
}

int pml_nagaya_irecv(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                     struct ompi_communicator_t* comm, ompi_request_t** request) {
  pml_nagaya_receive_request_t* started;
  const int error = start_new(buffer, count, datatype, from, tag, comm, &started);
  if (error == OMPI_SUCCESS) *request = &started->super.req_base.req_ompi;
  return error;
}

int pml_nagaya_recv(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                    struct ompi_communicator_t* comm, ompi_status_public_t* status) {
  pml_nagaya_receive_request_t* request;
  const int error = start_new(buffer, count, datatype, from, tag, comm, &request);
  return error == OMPI_SUCCESS ? wait_and_free(request, status) : error;
}

/* Starts the receive of a message that a probe has taken. */
static int start_taken(void* buffer, size_t count, ompi_datatype_t* datatype,
                       struct ompi_message_t** message, pml_nagaya_receive_request_t** out) {
  struct ompi_communicator_t* comm = (*message)->comm;
  pml_nagaya_receive_request_t* const request =
      new_request(buffer, count, datatype, (*message)->peer, OMPI_ANY_TAG, comm, false);
  if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  prepare(request);
  const int error = nagaya_match_receive_taken((*message)->req_ptr, &request->receive);
  OBJ_RELEASE(comm); /* the request has it, too */
  ompi_message_return(*message);
  *message = MPI_MESSAGE_NULL;
  if (error != 0) {
    pml_nagaya_leave(&request->users);
    give_back(request);
    return nagaya_mpi_error(error);
  }
  *out = request;
  return OMPI_SUCCESS;
}

int pml_nagaya_imrecv(void* buffer, size_t count, ompi_datatype_t* datatype,
                      struct ompi_message_t** message, ompi_request_t** request) {
  pml_nagaya_receive_request_t* started;
  const int error = start_taken(buffer, count, datatype, message, &started);
  if (error == OMPI_SUCCESS) *request = &started->super.req_base.req_ompi;
  return error;
}

int pml_nagaya_mrecv(void* buffer, size_t count, ompi_datatype_t* datatype,
                     struct ompi_message_t** message, ompi_status_public_t* status) {
  pml_nagaya_receive_request_t* request;
  const int error = start_taken(buffer, count, datatype, message, &request);
  return error == OMPI_SUCCESS ? wait_and_free(request, status) : error;
}
