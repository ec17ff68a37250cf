/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_nagaya.h - Open MPI's collectives, translated to nagaya/coll.h.
 *
 *   component.c     for which communicators, and which of their operations
 *   teams.c         which processes do a collective together
 *   call.c          MPI's arguments, as collectives
 *   data.c          buffers, as blocks
 *   blocking.c      the functions of the module: call, run, end
 *   nonblocking.c   the same with a request, which request.c has; persistent.c: to be started */
#ifndef COLL_NAGAYA_H
#define COLL_NAGAYA_H

#include "communicator.h"
#include "compat.h"
#include "data.h"
#include "layout.h"

#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"

#include <nagaya/coll.h>
#include <nagaya/match.h>

NAGAYA_COMPONENT extern const mca_coll_base_component_t mca_coll_nagaya_component;

/* Open MPI itself starts some non-blocking collectives when it likes (MPI_Comm_idup), between the
 * program's blocking ones, and not between the same ones at all processes. */
enum { COLL_NAGAYA_BLOCKING, COLL_NAGAYA_NONBLOCKING, COLL_NAGAYA_KINDS };

/* ---- buffers (data.c) ---------------------------------------------------------------------- */

/* One side of a collective as MPI describes it: a block for each rank, or a single one. */
typedef struct coll_nagaya_side {
  char* buffer;
  ompi_datatype_t* type;
  size_t count; /* of each block, which lies behind the one before; or by rank: */
  const int* counts;
  const int* displacements;      /* in extents of the type; with `types` in bytes */
  ompi_datatype_t* const* types; /* alltoallw: in place of `type` */
  uint32_t blocks;               /* 1, or as many as ranks */
  uint32_t before, behind;       /* so many ranks of the team, before those and behind, have none */
  bool is_for_all;               /* all blocks are the first one */
} coll_nagaya_side;

/* The processes that do a call: all of the communicator; of an intercommunicator also the root and
 * the group that the root is not in; or others, and this process has nothing to do. */
typedef enum { COLL_NAGAYA_ALL, COLL_NAGAYA_ROOTED, COLL_NAGAYA_OTHERS } coll_nagaya_members;

/* The parts of a collective. They belong to one call, which may be started again and again. */
typedef struct coll_nagaya_call {
  nagaya_collective collective;
  coll_nagaya_members members;
  int root;                       /* COLL_NAGAYA_ROOTED: as MPI has it */
  coll_nagaya_side send, receive; /* `blocks` 0: there is none */
  struct ompi_op_t* op;           /* of a reduction, and its type: */
  ompi_datatype_t* type;
  void* packed;      /* the data of `send`, when they are in more runs than can be described */
  void* send_places; /* arrays of nagaya_blocks */
  void* receive_places;
  nagaya_runs** send_runs; /* of each type */
  nagaya_runs** receive_runs;
  size_t* counts;          /* of nagaya_elements */
  ompi_datatype_t** types; /* copies of the sides' `types` */
} coll_nagaya_call;

/* Says to the collective where the data are; packs those that it cannot say. Before each start.
 * An OMPI_ERR_ code. */
int coll_nagaya_place_data(coll_nagaya_call* call);
/* Says which algorithm does it, to users that ask Open MPI to be verbose (coll_base_verbose). */
enum { COLL_NAGAYA_VERBOSITY = 20 };
static inline bool coll_nagaya_is_verbose(void) {
  return ompi_coll_base_framework.framework_verbose >= COLL_NAGAYA_VERBOSITY;
}
void coll_nagaya_say(const coll_nagaya_call* call, const nagaya_team* team,
                     struct ompi_communicator_t* comm);
/* Frees what the call has allocated. */
void coll_nagaya_end_call(coll_nagaya_call* call);

/* ---- MPI's arguments, as collectives (call.c) ---------------------------------------------- */

void coll_nagaya_call_barrier(coll_nagaya_call* call);
void coll_nagaya_call_bcast(coll_nagaya_call* call, void* buffer, int count, ompi_datatype_t* type,
                            int root, struct ompi_communicator_t* comm);
/* `counts` and `displacements` NULL: `count` each. (Others than the root do not know: the vector
 * variants say that the sizes vary.) */
void coll_nagaya_call_gather(coll_nagaya_call* call, const void* send, int send_count,
                             ompi_datatype_t* send_type, void* receive, int count,
                             const int* counts, const int* displacements,
                             ompi_datatype_t* receive_type, int root,
                             struct ompi_communicator_t* comm);
void coll_nagaya_call_scatter(coll_nagaya_call* call, const void* send, int count,
                              const int* counts, const int* displacements,
                              ompi_datatype_t* send_type, void* receive, int receive_count,
                              ompi_datatype_t* receive_type, int root,
                              struct ompi_communicator_t* comm);
void coll_nagaya_call_allgather(coll_nagaya_call* call, const void* send, int send_count,
                                ompi_datatype_t* send_type, void* receive, int count,
                                const int* counts, const int* displacements,
                                ompi_datatype_t* receive_type, struct ompi_communicator_t* comm);
/* Each side as MPI has it, but `blocks`. `send` in place: its buffer is MPI_IN_PLACE. */
void coll_nagaya_call_alltoall(coll_nagaya_call* call, coll_nagaya_side send,
                               coll_nagaya_side receive, struct ompi_communicator_t* comm);
/* REDUCE, ALLREDUCE, SCAN, EXSCAN. */
void coll_nagaya_call_reduction(coll_nagaya_call* call, nagaya_collective_kind kind,
                                const void* send, void* receive, int count, ompi_datatype_t* type,
                                struct ompi_op_t* op, int root);
/* `counts` NULL: `count` each. An OMPI_ERR_ code. */
int coll_nagaya_call_reduce_scatter(coll_nagaya_call* call, const void* send, void* receive,
                                    int count, const int* counts, ompi_datatype_t* type,
                                    struct ompi_op_t* op, struct ompi_communicator_t* comm);

/* ---- teams (teams.c) ----------------------------------------------------------------------- */

/* Communicators' contexts are below: 2^31 numbers are left for the teams of each, of which every
 * persistent collective takes one in its communicator's life. */
#define COLL_NAGAYA_CONTEXTS (UINT64_C(1) << 22)

/* Of an intercommunicator: whether the local group comes first in its teams. */
bool coll_nagaya_is_first(struct ompi_communicator_t* comm);
/* Which of the communicator's teams does the call, which is not one of others. `kind`:
 * COLL_NAGAYA_BLOCKING, COLL_NAGAYA_NONBLOCKING. */
uint32_t coll_nagaya_number_of(const coll_nagaya_call* call, uint32_t kind,
                               struct ompi_communicator_t* comm);
/* Opens the team of that number, of the call's processes, unless it is open. An OMPI_ERR_ code. */
int coll_nagaya_open_team(struct ompi_communicator_t* comm, const coll_nagaya_call* call,
                          uint32_t number, nagaya_team** team);

/* ---- requests (request.c) ------------------------------------------------------------------ */

typedef struct coll_nagaya_request_t {
  ompi_coll_base_nbc_request_t super;
  coll_nagaya_call call;
  /* Persistent requests of a communicator may be started in different orders at its processes: each
   * has a team. */
  nagaya_team* own_team;
  uint32_t own_number;
} coll_nagaya_request_t;
OBJ_CLASS_DECLARATION(coll_nagaya_request_t);

/* NULL: no memory. */
coll_nagaya_request_t* coll_nagaya_new_request(struct ompi_communicator_t* comm, bool persistent);
/* Starts the call of a request that is not persistent; `error`: of making the call. When it fails
 * the request goes. */
int coll_nagaya_start(coll_nagaya_request_t* request, int error, ompi_request_t** out);
/* Ends the making of a persistent request. */
int coll_nagaya_end_init(coll_nagaya_request_t* request, int error, ompi_request_t** out);

/* ---- the module's functions ---------------------------------------------------------------- */

void coll_nagaya_set_blocking(mca_coll_base_module_t* module);
void coll_nagaya_set_nonblocking(mca_coll_base_module_t* module);
void coll_nagaya_set_persistent(mca_coll_base_module_t* module);

#endif
