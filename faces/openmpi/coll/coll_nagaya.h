/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_nagaya.h - Open MPI's collectives, translated to nagaya/coll.h.
 *
 *   component.c     chooses the communicators, and which of their operations are ours
 *   teams.c         the processes that do a collective together
 *   call.c          translates MPI's arguments to collectives
 *   data.c          translates buffers to blocks
 *   functions.c     the module's functions: each operation in MPI's three forms
 *   request.c       the requests of non-blocking and persistent operations */
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

/* Blocking and non-blocking collectives have teams of their own: Open MPI itself starts some
 * non-blocking ones (MPI_Comm_idup) between the program's blocking ones, and not between the same
 * ones at all processes. */
enum { COLL_NAGAYA_BLOCKING, COLL_NAGAYA_NONBLOCKING, COLL_NAGAYA_TEAM_KINDS };

/* ---- buffers (data.c) ---------------------------------------------------------------------- */

/* One side of a collective as MPI describes it: a block for each rank, or a single one. */
typedef struct coll_nagaya_side {
  char* buffer;
  ompi_datatype_t* type;
  size_t count; /* of each block; blocks follow each other. Or by rank: */
  const int* counts;
  const int* displacements;            /* in extents of the type; with `types` in bytes */
  ompi_datatype_t* const* types;       /* alltoallw: in place of `type` */
  uint32_t blocks;                     /* 1, or as many as ranks */
  uint32_t ranks_before, ranks_behind; /* of the team, without a block */
  bool is_for_all;                     /* every rank gets the first block */
} coll_nagaya_side;

/* The processes that do a call: all of the communicator; in an intercommunicator with a root the
 * root and the group that it is not in; or only others, and this process has nothing to do. */
typedef enum { COLL_NAGAYA_ALL, COLL_NAGAYA_ROOTED, COLL_NAGAYA_NOT_A_MEMBER } coll_nagaya_members;

/* One call of a collective and all memory that it needs. A persistent one is started repeatedly. */
typedef struct coll_nagaya_call {
  nagaya_collective collective;
  coll_nagaya_members members;
  int root;                       /* COLL_NAGAYA_ROOTED: MPI's argument */
  coll_nagaya_side send, receive; /* `blocks` 0: there is none */
  struct ompi_op_t* op;           /* of a reduction, and its type: */
  ompi_datatype_t* type;
  void* packed;           /* the data of `send`, when they are in more runs than can be described */
  void* send_block_table; /* arrays `bytes_of` and `offset_of` of nagaya_blocks */
  void* receive_block_table;
  nagaya_runs** send_runs; /* by type */
  nagaya_runs** receive_runs;
  size_t* counts;          /* `count_of` of nagaya_elements */
  ompi_datatype_t** types; /* copies of the sides' `types` */
  int* lists[2];           /* copies of the sides' `counts` and `displacements`, or NULL */
} coll_nagaya_call;

/* Describes to the collective where the data are; packs data in too many runs. Called before each
 * start. Returns an OMPI_ERR_ code. */
int coll_nagaya_describe_data(coll_nagaya_call* call);
/* Prints the algorithm of a call, for users that ask Open MPI to be verbose (coll_base_verbose). */
enum { COLL_NAGAYA_VERBOSITY = 20 };
static inline bool coll_nagaya_is_verbose(void) {
  return ompi_coll_base_framework.framework_verbose >= COLL_NAGAYA_VERBOSITY;
}
void coll_nagaya_print_algorithm(const coll_nagaya_call* call, const nagaya_team* team,
                                 struct ompi_communicator_t* comm);
/* Frees what the call has allocated. */
void coll_nagaya_end_call(coll_nagaya_call* call);

/* ---- MPI's arguments, as collectives (call.c). All return an OMPI_ERR_ code. ----------------- */

int coll_nagaya_call_barrier(coll_nagaya_call* call);
int coll_nagaya_call_bcast(coll_nagaya_call* call, void* buffer, int count, ompi_datatype_t* type,
                           int root, struct ompi_communicator_t* comm);
/* If `counts` and `displacements` are NULL, each block has `count` elements. (Only the root knows
 * them: the callers for MPI's vector variants set `varies`.) */
int coll_nagaya_call_gather(coll_nagaya_call* call, const void* send, int send_count,
                            ompi_datatype_t* send_type, void* receive, int count, const int* counts,
                            const int* displacements, ompi_datatype_t* receive_type, int root,
                            struct ompi_communicator_t* comm);
int coll_nagaya_call_scatter(coll_nagaya_call* call, const void* send, int count, const int* counts,
                             const int* displacements, ompi_datatype_t* send_type, void* receive,
                             int receive_count, ompi_datatype_t* receive_type, int root,
                             struct ompi_communicator_t* comm);
int coll_nagaya_call_allgather(coll_nagaya_call* call, const void* send, int send_count,
                               ompi_datatype_t* send_type, void* receive, int count,
                               const int* counts, const int* displacements,
                               ompi_datatype_t* receive_type, struct ompi_communicator_t* comm);
/* The sides have MPI's arguments; the call sets `blocks`. `send.buffer` may be MPI_IN_PLACE. */
int coll_nagaya_call_alltoall(coll_nagaya_call* call, coll_nagaya_side send,
                              coll_nagaya_side receive, struct ompi_communicator_t* comm);
/* `kind`: NAGAYA_REDUCE, NAGAYA_ALLREDUCE, NAGAYA_SCAN, NAGAYA_EXSCAN. */
int coll_nagaya_call_reduction(coll_nagaya_call* call, nagaya_collective_kind kind,
                               const void* send, void* receive, int count, ompi_datatype_t* type,
                               struct ompi_op_t* op, int root);
/* If `counts` is NULL, each rank gets `count` elements. */
int coll_nagaya_call_reduce_scatter(coll_nagaya_call* call, const void* send, void* receive,
                                    int count, const int* counts, ompi_datatype_t* type,
                                    struct ompi_op_t* op, struct ompi_communicator_t* comm);

/* ---- teams (teams.c) ----------------------------------------------------------------------- */

/* Communicators' contexts are below this. It leaves 2^31 team numbers for each communicator; every
 * persistent request takes one of them for its communicator's life. */
#define COLL_NAGAYA_CONTEXTS (UINT64_C(1) << 22)

/* Whether the local group of an intercommunicator comes first in its teams. */
bool coll_nagaya_is_local_group_first(struct ompi_communicator_t* comm);
/* Returns the number of the communicator's team that does the call, which is not one of
 * COLL_NAGAYA_NOT_A_MEMBER. `kind`: COLL_NAGAYA_BLOCKING, COLL_NAGAYA_NONBLOCKING. */
uint32_t coll_nagaya_team_number(const coll_nagaya_call* call, uint32_t kind,
                                 struct ompi_communicator_t* comm);
/* Opens team `number`, of the call's processes, unless `*team` is open. Returns an OMPI_ERR_
 * code. */
int coll_nagaya_open_team(struct ompi_communicator_t* comm, const coll_nagaya_call* call,
                          uint32_t number, nagaya_team** team);

/* ---- requests (request.c) ------------------------------------------------------------------ */

typedef struct coll_nagaya_request_t {
  ompi_coll_base_nbc_request_t super;
  coll_nagaya_call call;
  /* Persistent requests of a communicator may be started in different orders at its processes: so
   * each has a team of its own. */
  nagaya_team* own_team;
  uint32_t own_number;
} coll_nagaya_request_t;
OBJ_CLASS_DECLARATION(coll_nagaya_request_t);

/* Returns NULL without memory. */
coll_nagaya_request_t* coll_nagaya_new_request(struct ompi_communicator_t* comm, bool persistent);
/* Starts the call of a request that is not persistent. `error` is the result of making the call.
 * On failure frees the request. Returns an OMPI_ERR_ code. */
int coll_nagaya_start(coll_nagaya_request_t* request, int error, ompi_request_t** out);
/* Finishes a new persistent request, which is not started. Arguments and result as those of
 * coll_nagaya_start(). */
int coll_nagaya_end_init(coll_nagaya_request_t* request, int error, ompi_request_t** out);

/* ---- the module's functions ---------------------------------------------------------------- */

void coll_nagaya_set_functions(mca_coll_base_module_t* module);

#endif
