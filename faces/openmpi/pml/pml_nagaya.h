/* SPDX-License-Identifier: BSD-3-Clause */
/* pml_nagaya.h - Open MPI's point-to-point interface, translated to nagaya/match.h.
 *
 *   component.c   decides whether pml/nagaya is used; its module
 *   send.h        sends, a file for each kind: send.c, send_*.c
 *   sent.c        requests for messages that were sent without one
 *   receive.c     irecv, recv, persistent and matched receives
 *   probe.c       the four probes
 *   wait.c        waits and progress
 *
 * A request begins with Open MPI's own structure, and ours follows: debuggers find its fields where
 * those of Open MPI's components are. */
#ifndef PML_NAGAYA_H
#define PML_NAGAYA_H

#include "compat.h"
#include "data.h"
#include "layout.h"
#include "peers.h"

#include <nagaya/match.h>

NAGAYA_COMPONENT extern mca_pml_base_component_t mca_pml_nagaya_component;
extern mca_pml_base_module_t pml_nagaya_module;

/* ---- requests ---------------------------------------------------------------------------- */

/* Number of users of a request: the program and the pending operation. The last one to leave it
 * gives it back, whichever threads they are in.
 *
 * A request's `runs` are allocated apart: those of many messages must fit into the first cache. */
typedef uint32_t pml_nagaya_users;
static inline uint32_t pml_nagaya_add_users(pml_nagaya_users* users, uint32_t number) {
  return opal_using_threads() ? __atomic_add_fetch(users, number, __ATOMIC_ACQ_REL)
                              : (*users += number);
}
static inline void pml_nagaya_enter(pml_nagaya_users* users) {
  pml_nagaya_add_users(users, 1);
}
static inline bool pml_nagaya_leave(pml_nagaya_users* users) {
  return pml_nagaya_add_users(users, -1u) == 0;
}

struct pml_nagaya_buffered; /* send.h */
typedef struct pml_nagaya_send_request_t {
  mca_pml_base_send_request_t super;
  nagaya_send send;
  pml_nagaya_users users;
  struct pml_nagaya_buffered* buffered; /* the pending copy of its message; may be NULL */
  nagaya_runs* runs;                    /* of nagaya_describe_runs(); NULL before its first call */
} pml_nagaya_send_request_t;
OBJ_CLASS_DECLARATION(pml_nagaya_send_request_t);

typedef struct pml_nagaya_receive_request_t {
  mca_pml_base_recv_request_t super;
  pml_nagaya_users users; /* fills this cache line: `receive` has the next two */
  nagaya_receive receive;
  nagaya_runs* runs; /* of nagaya_describe_runs(); NULL before its first call */
} pml_nagaya_receive_request_t;
OBJ_CLASS_DECLARATION(pml_nagaya_receive_request_t);

/* ---- waits (wait.c) ---------------------------------------------------------------------- */

/* Replace Open MPI's waits by ours when it has chosen pml/nagaya, and restore them at its end. */
int pml_nagaya_begin_waits(void);
void pml_nagaya_end_waits(void);
/* Waits until a request of ours is complete. Returns OMPI_SUCCESS, or MPI_ERR_NO_MEM if messages
 * wait for memory and the request is not complete. */
int pml_nagaya_wait(ompi_request_t* request);
/* Waits for a request whose buffer others use: never returns MPI_ERR_NO_MEM, but waits on. */
int pml_nagaya_wait_even_without_memory(ompi_request_t* request);
/* Waits until is_over(context), which messages of ours bring about. Errors as pml_nagaya_wait(). */
int pml_nagaya_wait_until(int (*is_over)(void* context), void* context);
int pml_nagaya_progress(void);

int pml_nagaya_init_completed_sends(void);
/* Returns a complete request for a message that nagaya_match_try_send() has sent, which gave
 * `serial`. NULL: no memory. */
ompi_request_t* pml_nagaya_new_completed_send(nagaya_process to, const nagaya_envelope* envelope,
                                              uint32_t serial);

/* Completes a receive of ours with the error unless a message is matched with it. Returns whether
 * it did. */
bool pml_nagaya_fail_receive(ompi_request_t* request, int error);

int pml_nagaya_start(size_t count, ompi_request_t** requests);
int pml_nagaya_start_send(pml_nagaya_send_request_t* request);
int pml_nagaya_start_receive(pml_nagaya_receive_request_t* request);

/* ---- the module's functions -------------------------------------------------------------- */

int pml_nagaya_isend_init(const void* buffer, size_t count, ompi_datatype_t* datatype, int to,
                          int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                          ompi_request_t** request);
int pml_nagaya_isend(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                     mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm,
                     ompi_request_t** request);
int pml_nagaya_send(const void* buffer, size_t count, ompi_datatype_t* datatype, int to, int tag,
                    mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm);
int pml_nagaya_irecv_init(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                          struct ompi_communicator_t* comm, ompi_request_t** request);
int pml_nagaya_irecv(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                     struct ompi_communicator_t* comm, ompi_request_t** request);
int pml_nagaya_recv(void* buffer, size_t count, ompi_datatype_t* datatype, int from, int tag,
                    struct ompi_communicator_t* comm, ompi_status_public_t* status);
int pml_nagaya_imrecv(void* buffer, size_t count, ompi_datatype_t* datatype,
                      struct ompi_message_t** message, ompi_request_t** request);
int pml_nagaya_mrecv(void* buffer, size_t count, ompi_datatype_t* datatype,
                     struct ompi_message_t** message, ompi_status_public_t* status);
int pml_nagaya_iprobe(int from, int tag, struct ompi_communicator_t* comm, int* matched,
                      ompi_status_public_t* status);
int pml_nagaya_probe(int from, int tag, struct ompi_communicator_t* comm,
                     ompi_status_public_t* status);
int pml_nagaya_improbe(int from, int tag, struct ompi_communicator_t* comm, int* matched,
                       struct ompi_message_t** message, ompi_status_public_t* status);
int pml_nagaya_mprobe(int from, int tag, struct ompi_communicator_t* comm,
                      struct ompi_message_t** message, ompi_status_public_t* status);

#endif
