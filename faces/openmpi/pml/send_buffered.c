/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "send.h"

static pthread_mutex_t copies_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void pml_nagaya_lock_copies(const pml_nagaya_send_request_t* request) {
  if (pml_nagaya_sends_copy(request)) pthread_mutex_lock(&copies_lock);
}

void pml_nagaya_unlock_copies(const pml_nagaya_send_request_t* request) {
  if (pml_nagaya_sends_copy(request)) pthread_mutex_unlock(&copies_lock);
}

static void set_copy(pml_nagaya_send_request_t* request, struct pml_nagaya_buffered* buffered) {
  pml_nagaya_lock_copies(request);
  if (request->buffered != NULL) request->buffered->request = NULL;
  request->buffered = buffered;
  pml_nagaya_unlock_copies(request);
}

void pml_nagaya_forget_copy(pml_nagaya_send_request_t* request) {
  set_copy(request, NULL);
}

/* Copies the message to memory of the user's buffer; `*copy` is NULL if it has no bytes. */
static int make_copy(const pml_nagaya_send_request_t* request, void** copy) {
  const mca_pml_base_request_t* const base = &request->super.req_base;
  const size_t bytes = request->send.bytes;
  *copy = NULL;
  if (bytes == 0) return OMPI_SUCCESS;
  *copy = mca_pml_base_bsend_request_alloc_buf(bytes);
  /* The first call has freed the copies that were sent: now there may be room. */
  if (*copy == NULL) *copy = mca_pml_base_bsend_request_alloc_buf(bytes);
  if (*copy == NULL) return MPI_ERR_BUFFER; /* MPI_Start returns it as it is */
  return pml_nagaya_pack(base->req_addr, base->req_count, base->req_datatype, *copy, bytes);
}

static void free_copy(void* copy) {
  if (copy != NULL) mca_pml_base_bsend_request_free(copy);
}

static void on_complete(nagaya_send* send) {
  struct pml_nagaya_buffered* const buffered = (struct pml_nagaya_buffered*)send;
  free_copy(buffered->copy);
  pthread_mutex_lock(&copies_lock);
  pml_nagaya_send_request_t* const request = buffered->request;
  if (request != NULL) {
    request->buffered = NULL;
    request->send.serial = send->serial;
    if (!request->super.req_base.req_pml_complete)
      pml_nagaya_end_send(request, send->is_cancelled, send->error);
  }
  pthread_mutex_unlock(&copies_lock);
  free(buffered);
}

int pml_nagaya_start_buffered(pml_nagaya_send_request_t* request) {
  void* copy = NULL;
  struct pml_nagaya_buffered* const buffered = malloc(sizeof *buffered);
  int error = buffered == NULL ? MPI_ERR_NO_MEM : make_copy(request, &copy);
  if (error == OMPI_SUCCESS) {
    *buffered = (struct pml_nagaya_buffered){request->send, copy, request};
    buffered->send.data = copy;
    buffered->send.complete = on_complete;
    set_copy(request, buffered);
    request->super.req_base.req_pml_complete = true;
    error = nagaya_mpi_error(nagaya_match_send(&buffered->send));
  }
  if (error == OMPI_SUCCESS) {
    pml_nagaya_end_send(request, false, 0);
    return OMPI_SUCCESS;
  }
  pml_nagaya_forget_copy(request);
  free_copy(copy);
  free(buffered);
  return error;
}
