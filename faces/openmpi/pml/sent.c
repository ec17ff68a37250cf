/* SPDX-License-Identifier: BSD-3-Clause */
/* sent.c - requests for messages that were sent without one: a program can only wait for them, or
 * cancel them. They are small, because programs have many of them at once, and requests of send.h
 * do not fit into the first cache. */
#include "pml_nagaya.h"

static opal_free_list_t completed_send_requests;

typedef struct completed_send_request_t {
  ompi_request_t super;
  pml_nagaya_users users;
  nagaya_send send;
} completed_send_request_t;

static void leave(completed_send_request_t* request) {
  if (!pml_nagaya_leave(&request->users)) return;
  OMPI_REQUEST_FINI(&request->super);
  opal_free_list_return(&completed_send_requests, (opal_free_list_item_t*)request);
}

static void on_complete(nagaya_send* send) {
  completed_send_request_t* const request =
      (completed_send_request_t*)((char*)send - offsetof(completed_send_request_t, send));
  request->super.req_status._cancelled = (int)send->is_cancelled;
  ompi_request_complete(&request->super, true);
  leave(request);
}

static int free_request(ompi_request_t** handle) {
  leave((completed_send_request_t*)*handle);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static int cancel_request(ompi_request_t* handle, int flag) {
  completed_send_request_t* const request = (completed_send_request_t*)handle;
  const bool is_cancel_pending = !REQUEST_COMPLETE(handle);
  if (is_cancel_pending || handle->req_status._cancelled) return OMPI_SUCCESS;
  request->send.answers = 0;
  pml_nagaya_enter(&request->users);
  handle->req_complete = REQUEST_PENDING;
  const int error = nagaya_match_cancel_send(&request->send);
  if (error != 0) {
    ompi_request_complete(handle, true);
    leave(request);
  }
  return nagaya_mpi_error(error);
}

static void construct(completed_send_request_t* request) {
  OMPI_REQUEST_INIT(&request->super, false);
  request->super.req_type = OMPI_REQUEST_PML;
  request->super.req_start = NULL;
  request->super.req_free = free_request;
  request->super.req_cancel = cancel_request;
  request->super.req_mpi_object.comm = &ompi_mpi_comm_world.comm;
  request->super.req_status = ompi_status_empty;
  request->send.complete = on_complete;
}
OBJ_CLASS_INSTANCE(completed_send_request_t, ompi_request_t, construct, NULL);

int pml_nagaya_init_completed_sends(void) {
  OBJ_CONSTRUCT(&completed_send_requests, opal_free_list_t);
  return opal_free_list_init(&completed_send_requests, sizeof(completed_send_request_t),
                             opal_cache_line_size, OBJ_CLASS(completed_send_request_t), 0,
                             opal_cache_line_size, 4, -1, 64, NULL, 0, NULL, NULL, NULL);
}

ompi_request_t* pml_nagaya_new_completed_send(nagaya_process to, const nagaya_envelope* envelope,
                                              uint32_t serial) {
  completed_send_request_t* const request =
      (completed_send_request_t*)opal_free_list_get(&completed_send_requests);
  if (request == NULL) return NULL;
  request->super.req_complete = REQUEST_COMPLETED;
  request->super.req_state = OMPI_REQUEST_ACTIVE;
  request->super.req_status._cancelled = 0;
  request->users = 1;
  request->send.to = to;
  request->send.envelope = *envelope;
  request->send.serial = serial;
  return &request->super;
}
