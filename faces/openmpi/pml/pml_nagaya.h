/* SPDX-License-Identifier: BSD-3-Clause */
/* pml_nagaya.h - Open MPI's point-to-point interface, translated to nagaya/match.h.
 *
 *   component.c   is it for us?
 *   send.h        sends, a file for each kind: send.c, send_*.c
 *   sent.c        requests of what was sent without one
 *   receive.c     irecv, recv, persistent and matched receives
 *   probe.c       the four probes
 *   wait.c        waits and progress
 *
 * A request is Open MPI's own, with ours behind it; debuggers find its fields where those of
 * Open MPI's components are. */
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

/* The program and the operation under way each use a request; the last to leave it gives it back,
 * whichever threads they are in.
 *
 * `runs` are their own memory: requests of many messages at once must fit into the first cache. */
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
  struct pml_nagaya_buffered* buffered; /* the copy that carries it, under way */
  nagaya_runs* runs;                    /* of nagaya_describe(); NULL before the first */
} pml_nagaya_send_request_t;
OBJ_CLASS_DECLARATION(pml_nagaya_send_request_t);

typedef struct pml_nagaya_receive_request_t {
  mca_pml_base_recv_request_t super;
  pml_nagaya_users users; /* here it fills a line, and the next two are the receive's */
  nagaya_receive receive;
  nagaya_runs* runs; /* of nagaya_describe(); NULL before the first */
} pml_nagaya_receive_request_t;
OBJ_CLASS_DECLARATION(pml_nagaya_receive_request_t);

/* ---- waits (wait.c) ---------------------------------------------------------------------- */

/* In place of Open MPI's waits, from when it has chosen us to its end. */
int pml_nagaya_begin_waits(void);
void pml_nagaya_end_waits(void);
/* Until a request of ours is complete. Returns OMPI_SUCCESS; MPI_ERR_NO_MEM: messages wait for
 * memory, the request is not complete. */
int pml_nagaya_wait(ompi_request_t* request);
/* The same without that error: others use the request's buffer. */
int pml_nagaya_wait_on(ompi_request_t* request);
/* As the first, until is_over(context), which messages of ours bring about. */
int pml_nagaya_wait_until(int (*is_over)(void* context), void* context);
int pml_nagaya_progress(void);

int pml_nagaya_init_sent(void);
/* Complete; `serial`: of nagaya_match_try_send(). NULL: no memory. */
ompi_request_t* pml_nagaya_new_sent(nagaya_process to, const nagaya_envelope* envelope,
                                    uint32_t serial);

/* Completes a receive of ours with the error, if no message is matched with it: whether it has. */
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
