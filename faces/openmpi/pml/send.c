/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "pml_nagaya.h"

/* ---- what is sent ------------------------------------------------------------------------ */

static nagaya_envelope envelope_to(struct ompi_communicator_t* comm, int tag) {
  const nagaya_envelope envelope = {nagaya_context_of(comm), ompi_comm_rank(comm), tag};
  return envelope;
}

static int pack(const void* buffer, size_t count, ompi_datatype_t* datatype, void* into,
                size_t bytes) {
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &datatype->super, count,
                                           buffer, 0, &convertor);
  struct iovec all = {.iov_base = into, .iov_len = bytes};
  uint32_t pieces = 1;
  const int32_t error = opal_convertor_pack(&convertor, &all, &pieces, &bytes);
  OBJ_DESTRUCT(&convertor);
  return error < 0 ? OMPI_ERROR : OMPI_SUCCESS;
}

/* Without a request, if that is possible. -EAGAIN: it needs one. */
static int try_send(const void* buffer, size_t count, ompi_datatype_t* datatype, nagaya_process to,
                    int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                    uint32_t* serial) {
  if (mode == MCA_PML_BASE_SEND_SYNCHRONOUS || !pml_nagaya_is_one_run(datatype, count))
    return -EAGAIN;
  const nagaya_envelope envelope = envelope_to(comm, tag);
  return nagaya_match_try_send(to, &envelope, pml_nagaya_run(buffer, datatype),
                               pml_nagaya_bytes(datatype, count), serial);
}

/* ---- a send with a request --------------------------------------------------------------- */

/* A copy of the message in the buffer that the user has attached, and what sends it. What one and
 * its request know of each other changes under `buffered_lock`. */
struct pml_nagaya_buffered {
  nagaya_send send;
  void* copy;
  pml_nagaya_send_request_t* request; /* NULL: it does not wait for this */
};

static pthread_mutex_t buffered_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* A message without bytes needs no copy. */
static bool may_be_buffered(const pml_nagaya_send_request_t* request) {
  return request->super.req_send_mode == MCA_PML_BASE_SEND_BUFFERED &&
         request->super.req_bytes_packed > 0;
}
static void lock_buffered(const pml_nagaya_send_request_t* request) {
  if (may_be_buffered(request)) pthread_mutex_lock(&buffered_lock);
}
static void unlock_buffered(const pml_nagaya_send_request_t* request) {
  if (may_be_buffered(request)) pthread_mutex_unlock(&buffered_lock);
}

static void link_buffered(pml_nagaya_send_request_t* request,
                          struct pml_nagaya_buffered* buffered) {
  lock_buffered(request);
  if (request->buffered != NULL) request->buffered->request = NULL;
  request->buffered = buffered;
  unlock_buffered(request);
}

static void free_packed(pml_nagaya_send_request_t* request) {
  if (request->super.req_addr != request->super.req_base.req_addr)
    free((void*)request->super.req_addr);
  request->super.req_addr = request->super.req_base.req_addr;
}

static void give_back(pml_nagaya_send_request_t* request) {
  link_buffered(request, NULL);
  OMPI_REQUEST_FINI(&request->super.req_base.req_ompi);
  OBJ_RELEASE(request->super.req_base.req_comm);
  OMPI_DATATYPE_RELEASE(request->super.req_base.req_datatype);
  opal_free_list_return(&mca_pml_base_send_requests, (opal_free_list_item_t*)request);
}

static void leave(pml_nagaya_send_request_t* request) {
  if (pml_nagaya_leave(&request->users)) give_back(request);
}

static void end(pml_nagaya_send_request_t* request, bool is_cancelled, int error) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  base->req_ompi.req_status.MPI_ERROR = pml_nagaya_error(error);
  base->req_ompi.req_status._cancelled = is_cancelled;
  base->req_pml_complete = true;
  ompi_request_complete(&base->req_ompi, true);
  leave(request);
}

static void on_complete(nagaya_send* send) {
  pml_nagaya_send_request_t* const request =
      (pml_nagaya_send_request_t*)((char*)send - offsetof(pml_nagaya_send_request_t, send));
  free_packed(request);
  end(request, send->is_cancelled, send->error);
}

static int free_request(ompi_request_t** handle) {
  pml_nagaya_send_request_t* const request = (pml_nagaya_send_request_t*)*handle;
  request->super.req_base.req_free_called = true;
  leave(request);
  *handle = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

/* Complete again when the receiver has decided; at once when there is none any more. What was
 * matched by rendezvous is beyond that. Another thread may complete it at any time: only what is
 * complete is this one's to change. */
static int ask_back(pml_nagaya_send_request_t* request) {
  ompi_request_t* const handle = &request->super.req_base.req_ompi;
  nagaya_send* const send = request->buffered != NULL ? &request->buffered->send : &request->send;
  const bool was_eager =
      send->is_synchronous == 0 && send->bytes <= nagaya_match_eager_max(send->to);
  int error = 0;
  if (!REQUEST_COMPLETE(handle)) {
    if (request->buffered != NULL) return OMPI_SUCCESS; /* it is asked back already */
    error = nagaya_match_cancel_send(send);
    if (error != -EALREADY) return pml_nagaya_error(error);
    const int failed = pml_nagaya_wait(handle);
    if (failed != OMPI_SUCCESS) return failed;
  }
  if (handle->req_status._cancelled || (request->buffered == NULL && !was_eager))
    return OMPI_SUCCESS;
  pml_nagaya_enter(&request->users);
  request->super.req_base.req_pml_complete = false;
  handle->req_complete = REQUEST_PENDING;
  if (request->buffered == NULL) send->answers = 0;
  error = nagaya_match_cancel_send(send);
  if (error != 0) end(request, false, 0);
  return error == -EALREADY ? OMPI_SUCCESS : pml_nagaya_error(error);
}

static int cancel_request(ompi_request_t* handle, int flag) {
  pml_nagaya_send_request_t* const request = (pml_nagaya_send_request_t*)handle;
  lock_buffered(request);
  const int error = ask_back(request);
  unlock_buffered(request);
  return error;
}

static void construct(pml_nagaya_send_request_t* request) {
  request->super.req_base.req_type = MCA_PML_REQUEST_SEND;
  request->super.req_base.req_ompi.req_start = pml_nagaya_start;
  request->super.req_base.req_ompi.req_free = free_request;
  request->super.req_base.req_ompi.req_cancel = cancel_request;
  request->send.complete = on_complete;
  request->runs = NULL;
}
static void destruct(pml_nagaya_send_request_t* request) {
  free(request->runs);
}
OBJ_CLASS_INSTANCE(pml_nagaya_send_request_t, mca_pml_base_send_request_t, construct, destruct);

static pml_nagaya_send_request_t* new_request(const void* buffer, size_t count,
                                              ompi_datatype_t* datatype, int to, int tag,
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
  base->req_tag = tag;
  base->req_comm = comm;
  request->users = 1;
  request->buffered = NULL;
  request->super.req_addr = buffer;
  request->super.req_send_mode = mode;
  request->super.req_bytes_packed = pml_nagaya_bytes(datatype, count);
  return request;
}

static void on_buffered_complete(nagaya_send* send) {
  struct pml_nagaya_buffered* const buffered = (struct pml_nagaya_buffered*)send;
  mca_pml_base_bsend_request_free(buffered->copy);
  pthread_mutex_lock(&buffered_lock);
  pml_nagaya_send_request_t* const request = buffered->request;
  if (request != NULL) {
    request->buffered = NULL;
    request->send.serial = send->serial;
    if (!request->super.req_base.req_pml_complete) end(request, send->is_cancelled, send->error);
  }
  pthread_mutex_unlock(&buffered_lock);
  free(buffered);
}

/* The request is complete with that. */
static int start_buffered(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  void* copy = mca_pml_base_bsend_request_alloc_buf(request->send.bytes);
  /* That has looked at what is complete: there may be room now. */
  if (copy == NULL) copy = mca_pml_base_bsend_request_alloc_buf(request->send.bytes);
  if (copy == NULL) return OMPI_ERR_BUFFER;
  struct pml_nagaya_buffered* const buffered = malloc(sizeof *buffered);
  int error = buffered == NULL ? OMPI_ERR_OUT_OF_RESOURCE
                               : pack(base->req_addr, base->req_count, base->req_datatype, copy,
                                      request->send.bytes);
  if (error == OMPI_SUCCESS) {
    *buffered = (struct pml_nagaya_buffered){request->send, copy, request};
    buffered->send.data = copy;
    buffered->send.complete = on_buffered_complete;
    link_buffered(request, buffered);
    base->req_pml_complete = true;
    error = pml_nagaya_error(nagaya_match_send(&buffered->send));
  }
  if (error == OMPI_SUCCESS) {
    end(request, false, 0);
    return OMPI_SUCCESS;
  }
  link_buffered(request, NULL);
  mca_pml_base_bsend_request_free(copy);
  free(buffered);
  return error;
}

static int start_packed(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  void* const packed = malloc(request->send.bytes);
  if (packed == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  request->super.req_addr = packed;
  const int error =
      pack(base->req_addr, base->req_count, base->req_datatype, packed, request->send.bytes);
  if (error != OMPI_SUCCESS) return error;
  request->send.data = packed;
  return pml_nagaya_error(nagaya_match_send(&request->send));
}

/* Whether the receiver can take it from where it lies. */
static bool describe(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  if (!pml_nagaya_describe(base->req_addr, base->req_datatype, base->req_count, &request->runs))
    return false;
  request->send.runs = request->runs;
  return true;
}

int pml_nagaya_start_send(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  nagaya_send* const send = &request->send;
  int error = pml_nagaya_peer(base->req_comm, base->req_peer, &send->to);
  if (error != OMPI_SUCCESS) return error;
  link_buffered(request, NULL); /* another thread may complete the copy of the start before */
  pml_nagaya_enter(&request->users);
  base->req_ompi.req_complete = REQUEST_PENDING;
  base->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
  base->req_ompi.req_status._cancelled = 0;
  base->req_pml_complete = false;
  send->envelope = envelope_to(base->req_comm, base->req_tag);
  send->bytes = request->super.req_bytes_packed;
  send->runs = NULL;
  send->is_synchronous = request->super.req_send_mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
  if (may_be_buffered(request))
    error = start_buffered(request);
  else if (pml_nagaya_is_one_run(base->req_datatype, base->req_count)) {
    send->data = pml_nagaya_run(base->req_addr, base->req_datatype);
    error = pml_nagaya_error(nagaya_match_send(send));
  } else if (describe(request))
    error = pml_nagaya_error(nagaya_match_send(send));
  else
    error = start_packed(request);
  if (error != OMPI_SUCCESS) {
    free_packed(request);
    base->req_pml_complete = true;
    pml_nagaya_leave(&request->users);
  }
  return error;
}

/* ---- the module's functions -------------------------------------------------------------- */

int pml_nagaya_isend_init(const void* buffer, size_t count, ompi_datatype_t* datatype, int to,
                          int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                          ompi_request_t** request) {
  pml_nagaya_send_request_t* const made =
      new_request(buffer, count, datatype, to, tag, mode, comm, true);
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  *request = &made->super.req_base.req_ompi;
  return OMPI_SUCCESS;
}

static int start_new(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                     mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                     ompi_request_t** request) {
  pml_nagaya_send_request_t* const made =
      new_request(buffer, count, datatype, to, tag, mode, comm, false);
  if (made == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  const int error = pml_nagaya_start_send(made);
  if (error == OMPI_SUCCESS)
    *request = &made->super.req_base.req_ompi;
  else
    give_back(made);
  return error;
}

int pml_nagaya_isend(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                     mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                     ompi_request_t** request) {
  nagaya_process peer;
  uint32_t serial;
  int error = pml_nagaya_peer(comm, to, &peer);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, peer, tag, mode, comm, &serial);
  if (error == -EAGAIN) return start_new(buffer, count, datatype, to, tag, mode, comm, request);
  if (error != 0) return pml_nagaya_error(error);
  const nagaya_envelope envelope = envelope_to(comm, tag);
  *request = pml_nagaya_new_sent(peer, &envelope, serial);
  return *request == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int pml_nagaya_send(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                    mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm) {
  nagaya_process peer;
  int error = pml_nagaya_peer(comm, to, &peer);
  if (error != OMPI_SUCCESS) return error;
  error = try_send(buffer, count, datatype, peer, tag, mode, comm, NULL);
  if (error != -EAGAIN) return pml_nagaya_error(error);
  ompi_request_t* request;
  error = start_new(buffer, count, datatype, to, tag, mode, comm, &request);
  if (error != OMPI_SUCCESS) return error;
  error = pml_nagaya_wait(request);
  if (error == OMPI_SUCCESS) error = request->req_status.MPI_ERROR;
  ompi_request_free(&request);
  return error;
}
