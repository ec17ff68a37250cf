/* SPDX-License-Identifier: BSD-3-Clause */
/* send.h - sends: a file for each kind, and the functions that each gives to the others.
 *
 *   send.c            isend and send: without a request, if that is possible
 *   send_request.c    the request of a send: made, completed, given back
 *   send_start.c      starts a request; makes persistent ones
 *   send_packed.c     copies data of several runs into one run
 *   send_buffered.c   sends a copy that lies in the buffer that the user has attached
 *   send_cancel.c     cancels a request */
#ifndef NAGAYA_OPENMPI_SEND_H
#define NAGAYA_OPENMPI_SEND_H

#include "pml_nagaya.h"

/* The receiver of a message, and the message's envelope. */
typedef struct pml_nagaya_target {
  nagaya_process process;
  nagaya_envelope envelope;
} pml_nagaya_target;

/* Finds rank `to` of the communicator. Returns an OMPI_ERR_ code. */
static inline int pml_nagaya_find_target(struct ompi_communicator_t* comm, int to, int tag,
                                         pml_nagaya_target* target) {
  target->envelope = (nagaya_envelope){nagaya_context_of(comm), ompi_comm_rank(comm), tag};
  return nagaya_peer(comm, to, &target->process);
}

/* ---- send_request.c ---------------------------------------------------------------------- */

/* Returns a request that is not started. `target`: of rank `to`. NULL: no memory. */
pml_nagaya_send_request_t* pml_nagaya_new_send(const void* buffer, size_t count,
                                               ompi_datatype_t* datatype, int to,
                                               const pml_nagaya_target* target,
                                               mca_pml_base_send_mode_t mode,
                                               struct ompi_communicator_t* comm, bool persistent);
/* Completes a request that was started, with an error of nagaya/match.h. */
void pml_nagaya_end_send(pml_nagaya_send_request_t* request, bool is_cancelled, int error);
/* Gives back a request that nobody uses any more. */
void pml_nagaya_give_back_send(pml_nagaya_send_request_t* request);

/* ---- send_packed.c ----------------------------------------------------------------------- */

/* Packs a buffer's `bytes` bytes of data into `into`. Returns an OMPI_ERR_ code. */
int pml_nagaya_pack(const void* buffer, size_t count, ompi_datatype_t* datatype, void* into,
                    size_t bytes);
/* Packs the request's data into memory of ours, which the request has until
 * pml_nagaya_free_packed(), and sends them from there. */
int pml_nagaya_start_packed(pml_nagaya_send_request_t* request);
void pml_nagaya_free_packed(pml_nagaya_send_request_t* request);

/* ---- send_buffered.c --------------------------------------------------------------------- */

/* A copy of the message in the buffer that the user has attached, and the send of that copy. The
 * pointers of a copy and its request to each other change under the lock of all copies. */
struct pml_nagaya_buffered {
  nagaya_send send;                   /* first member: on completion it is cast to the copy */
  void* copy;                         /* NULL: of a message without bytes */
  pml_nagaya_send_request_t* request; /* NULL: the request does not wait for the copy's send */
};

/* Whether the request sends a copy. */
static inline bool pml_nagaya_sends_copy(const pml_nagaya_send_request_t* request) {
  return request->super.req_send_mode == MCA_PML_BASE_SEND_BUFFERED;
}
/* Takes the lock of all copies if the request sends one. A thread may take it twice. */
void pml_nagaya_lock_copies(const pml_nagaya_send_request_t* request);
void pml_nagaya_unlock_copies(const pml_nagaya_send_request_t* request);
/* Copies, sends the copy, and completes the request. */
int pml_nagaya_start_buffered(pml_nagaya_send_request_t* request);
/* Separates the request from its copy: the copy is still sent, but does not change the request. */
void pml_nagaya_forget_copy(pml_nagaya_send_request_t* request);

/* ---- send_cancel.c ----------------------------------------------------------------------- */

int pml_nagaya_cancel_send(ompi_request_t* handle, int flag);

#endif
