/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_nagaya.h"

static coll_nagaya_request_t* request_of(nagaya_collective* collective) {
  return (coll_nagaya_request_t*)((char*)collective -
                                  offsetof(coll_nagaya_request_t, call.collective));
}

/* Of a request that is not persistent, or that is freed. */
static void end_call(coll_nagaya_request_t* request) {
  coll_nagaya_end_call(&request->call);
  request->call = (coll_nagaya_call){.packed = NULL};
}

/* The communicator outlives its requests: another one of its number would find their teams. */
static void on_complete(nagaya_collective* collective) {
  coll_nagaya_request_t* const request = request_of(collective);
  ompi_request_t* const own = &request->super.super;
  struct ompi_communicator_t* comm = own->req_mpi_object.comm;
  own->req_status.MPI_ERROR = nagaya_mpi_error(collective->error);
  if (!own->req_persistent) end_call(request);
  ompi_request_complete(own, true);
  OBJ_RELEASE(comm);
}

static int free_request(ompi_request_t** handle) {
  coll_nagaya_request_t* request = (coll_nagaya_request_t*)*handle;
  end_call(request);
  if (request->own_team != NULL) nagaya_coll_close(request->own_team);
  if ((*handle)->req_persistent) OBJ_RELEASE((*handle)->req_mpi_object.comm);
  OMPI_REQUEST_FINI(*handle);
  OBJ_RELEASE(request);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static int start(coll_nagaya_request_t* request) {
  struct ompi_communicator_t* comm = request->super.super.req_mpi_object.comm;
  int error = coll_nagaya_open_team(comm, 0, request->team);
  if (error == OMPI_SUCCESS) error = coll_nagaya_place_data(&request->call);
  if (error != OMPI_SUCCESS) return error;
  if (OPAL_UNLIKELY(coll_nagaya_is_verbose())) coll_nagaya_say(&request->call, comm);
  OBJ_RETAIN(comm);
  request->call.collective.complete = on_complete;
  error = nagaya_mpi_error(nagaya_coll_start(*request->team, &request->call.collective));
  if (error != OMPI_SUCCESS) OBJ_RELEASE(comm);
  return error;
}

static int start_all(size_t count, ompi_request_t** requests) {
  for (size_t n = 0; n < count; ++n) {
    if (requests[n] == NULL || requests[n]->req_type != OMPI_REQUEST_COLL) continue;
    requests[n]->req_state = OMPI_REQUEST_ACTIVE;
    requests[n]->req_complete = REQUEST_PENDING;
    const int error = start((coll_nagaya_request_t*)requests[n]);
    if (error != OMPI_SUCCESS) return error;
  }
  return OMPI_SUCCESS;
}

static int cancel(ompi_request_t* request, int flag) {
  return MPI_ERR_REQUEST;
}

static void construct(coll_nagaya_request_t* request) {
  ompi_request_t* const own = &request->super.super;
  own->req_type = OMPI_REQUEST_COLL;
  own->req_start = start_all;
  own->req_free = free_request;
  own->req_cancel = cancel;
  request->call = (coll_nagaya_call){.packed = NULL};
}
OBJ_CLASS_INSTANCE(coll_nagaya_request_t, ompi_coll_base_nbc_request_t, construct, NULL);

coll_nagaya_request_t* coll_nagaya_new_request(struct ompi_communicator_t* comm,
                                               mca_coll_base_module_t* module, bool persistent) {
  coll_nagaya_request_t* request = OBJ_NEW(coll_nagaya_request_t);
  if (request == NULL) return NULL;
  ompi_request_t* const own = &request->super.super;
  OMPI_REQUEST_INIT(own, persistent);
  own->req_mpi_object.comm = comm;
  own->req_state = persistent ? OMPI_REQUEST_INACTIVE : OMPI_REQUEST_ACTIVE;
  own->req_status.MPI_SOURCE = MPI_ANY_SOURCE;
  own->req_status.MPI_TAG = MPI_ANY_TAG;
  own->req_status.MPI_ERROR = OMPI_SUCCESS;
  own->req_status._cancelled = 0;
  own->req_status._ucount = 0;
  coll_nagaya_module_t* const own_module = (coll_nagaya_module_t*)module;
  request->team = persistent ? &request->own_team : &own_module->team;
  request->own_team = NULL;
  if (!persistent) return request;
  OBJ_RETAIN(comm);
  if (coll_nagaya_open_team(comm, ++own_module->persistent, request->team) == OMPI_SUCCESS)
    return request;
  OBJ_RELEASE(comm);
  OBJ_RELEASE(request);
  return NULL;
}

int coll_nagaya_start(coll_nagaya_request_t* request, int error, ompi_request_t** out) {
  if (error == OMPI_SUCCESS) error = start(request);
  ompi_request_t* handle = &request->super.super;
  if (error != OMPI_SUCCESS)
    free_request(&handle);
  else
    *out = handle;
  return error;
}

int coll_nagaya_end_init(coll_nagaya_request_t* request, int error, ompi_request_t** out) {
  ompi_request_t* handle = &request->super.super;
  if (error != OMPI_SUCCESS)
    free_request(&handle);
  else
    *out = handle;
  return error;
}
