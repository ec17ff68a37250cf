/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll_nagaya.h"

static coll_nagaya_request_t* request_of(nagaya_collective* collective) {
  return (coll_nagaya_request_t*)((char*)collective -
                                  offsetof(coll_nagaya_request_t, call.collective));
}

static void retain_or_release(void* object, bool retains) {
  opal_object_t* held = object;
  if (held == NULL) return;
  if (retains) {
    OBJ_RETAIN(held);
  } else {
    OBJ_RELEASE(held);
  }
}

/* A program may free operation and types before it frees the persistent request. */
static void retain_or_release_objects(const coll_nagaya_call* call, bool retains) {
  retain_or_release(call->op, retains);
  retain_or_release(call->type, retains);
  const coll_nagaya_side* const sides[] = {&call->send, &call->receive};
  for (int n = 0; n < 2; ++n) {
    if (sides[n]->blocks == 0) continue;
    if (sides[n]->types == NULL) retain_or_release(sides[n]->type, retains);
    for (uint32_t k = 0; sides[n]->types != NULL && k < sides[n]->blocks; ++k)
      retain_or_release(sides[n]->types[k], retains);
  }
}

/* Copies the sides' arrays of types: Fortran's are temporary. */
static bool copy_types(coll_nagaya_call* call) {
  coll_nagaya_side* const sides[] = {&call->send, &call->receive};
  if (call->send.types == NULL) return true;
  const uint32_t blocks = call->send.blocks;
  call->types = malloc(2 * blocks * sizeof *call->types);
  if (call->types == NULL) return false;
  for (int n = 0; n < 2; ++n) {
    ompi_datatype_t** const copy = call->types + n * blocks;
    for (uint32_t k = 0; k < blocks; ++k) copy[k] = sides[n]->types[k];
    sides[n]->types = copy;
  }
  return true;
}

/* Copies the sides' lists of counts and displacements. */
static bool copy_lists(coll_nagaya_call* call) {
  coll_nagaya_side* const sides[] = {&call->send, &call->receive};
  for (int n = 0; n < 2; ++n) {
    coll_nagaya_side* const side = sides[n];
    if (side->blocks == 0 || side->counts == NULL) continue;
    int* const copy = call->lists[n] = malloc(2 * side->blocks * sizeof *copy);
    if (copy == NULL) return false;
    side->counts = memcpy(copy, side->counts, side->blocks * sizeof *copy);
    side->displacements =
        memcpy(copy + side->blocks, side->displacements, side->blocks * sizeof *copy);
  }
  return true;
}

/* Ends the call of a request that is not persistent, or that is being freed. */
static void end_call(coll_nagaya_request_t* request) {
  coll_nagaya_end_call(&request->call);
  request->call = (coll_nagaya_call){.packed = NULL};
}

/* Releases the communicator last. It must outlive its requests: a new one of its number would find
 * their teams. */
static void on_complete(nagaya_collective* collective) {
  coll_nagaya_request_t* const request = request_of(collective);
  ompi_request_t* const own = &request->super.super;
  struct ompi_communicator_t* comm = own->req_mpi_object.comm;
  own->req_status.MPI_ERROR = nagaya_mpi_error(collective->error);
  if (!own->req_persistent) end_call(request);
  ompi_request_complete(own, true);
  OBJ_RELEASE(comm);
}

/* Frees a request that is not pending. */
static void discard(coll_nagaya_request_t* request) {
  ompi_request_t* const own = &request->super.super;
  if (own->req_persistent) retain_or_release_objects(&request->call, false);
  end_call(request);
  if (request->own_team != NULL) nagaya_coll_close(request->own_team);
  if (own->req_persistent) OBJ_RELEASE(own->req_mpi_object.comm);
  OMPI_REQUEST_FINI(own);
  OBJ_RELEASE(request);
}

static int free_request(ompi_request_t** handle) {
  if (!REQUEST_COMPLETE(*handle)) return MPI_ERR_REQUEST;
  discard((coll_nagaya_request_t*)*handle);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

/* Completes a call that only other processes do. */
static int complete_at_once(coll_nagaya_request_t* request) {
  request->call.collective.error = 0;
  OBJ_RETAIN(request->super.super.req_mpi_object.comm);
  on_complete(&request->call.collective);
  return OMPI_SUCCESS;
}

static int start(coll_nagaya_request_t* request) {
  coll_nagaya_call* const call = &request->call;
  if (call->members == COLL_NAGAYA_NOT_A_MEMBER) return complete_at_once(request);
  struct ompi_communicator_t* comm = request->super.super.req_mpi_object.comm;
  const bool is_persistent = request->super.super.req_persistent;
  const uint32_t number = is_persistent
                              ? request->own_number
                              : coll_nagaya_team_number(call, COLL_NAGAYA_NONBLOCKING, comm);
  nagaya_team** const team =
      is_persistent ? &request->own_team : &nagaya_communicator_of(comm)->teams[number];
  int error = coll_nagaya_open_team(comm, call, number, team);
  if (error == OMPI_SUCCESS) error = coll_nagaya_describe_data(call);
  if (error != OMPI_SUCCESS) return error;
  if (OPAL_UNLIKELY(coll_nagaya_is_verbose())) coll_nagaya_print_algorithm(call, *team, comm);
  OBJ_RETAIN(comm);
  call->collective.complete = on_complete;
  error = nagaya_mpi_error(nagaya_coll_start(*team, &call->collective));
  if (error != OMPI_SUCCESS) OBJ_RELEASE(comm);
  return error;
}

static int start_all(size_t count, ompi_request_t** requests) {
  int first_error = OMPI_SUCCESS;
  for (size_t n = 0; n < count; ++n) {
    if (requests[n] == NULL || requests[n]->req_type != OMPI_REQUEST_COLL) continue;
    requests[n]->req_state = OMPI_REQUEST_ACTIVE;
    requests[n]->req_complete = REQUEST_PENDING;
    requests[n]->req_status.MPI_ERROR = OMPI_SUCCESS;
    const int error = start((coll_nagaya_request_t*)requests[n]);
    if (error == OMPI_SUCCESS) continue;
    requests[n]->req_status.MPI_ERROR = error;
    ompi_request_complete(requests[n], true);
    if (first_error == OMPI_SUCCESS) first_error = error;
  }
  return first_error;
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

coll_nagaya_request_t* coll_nagaya_new_request(struct ompi_communicator_t* comm, bool persistent) {
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
  request->own_team = NULL;
  if (!persistent) return request;
  OBJ_RETAIN(comm);
  nagaya_communicator* const own_communicator = nagaya_communicator_of(comm);
  request->own_number = own_communicator->teams_count + own_communicator->persistent++;
  return request;
}

int coll_nagaya_start(coll_nagaya_request_t* request, int error, ompi_request_t** out) {
  if (error == OMPI_SUCCESS && !copy_types(&request->call)) error = MPI_ERR_NO_MEM;
  if (error == OMPI_SUCCESS) error = start(request);
  if (error != OMPI_SUCCESS)
    discard(request);
  else
    *out = &request->super.super;
  return error;
}

int coll_nagaya_end_init(coll_nagaya_request_t* request, int error, ompi_request_t** out) {
  if (error == OMPI_SUCCESS && !(copy_types(&request->call) && copy_lists(&request->call)))
    error = MPI_ERR_NO_MEM;
  retain_or_release_objects(&request->call, true);
  if (error != OMPI_SUCCESS)
    discard(request);
  else
    *out = &request->super.super;
  return error;
}
