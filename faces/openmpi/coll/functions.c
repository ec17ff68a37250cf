/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.c - the module's functions: each operation of MPI in its three forms.
 *
 *   bcast()        makes a call, runs it, ends it
 *   ibcast()       makes a request's call, and starts the request
 *   bcast_init()   makes the call of a persistent request, which MPI_Start starts
 *
 * The forms of an operation differ only in the arguments behind its own: communicator, info,
 * request. */
#include "coll_nagaya.h"

/* Runs and ends a call. `error` is the result of making it. Returns one of Open MPI's errors. */
static int run(coll_nagaya_call* call, int error, struct ompi_communicator_t* comm) {
  if (call->members == COLL_NAGAYA_NOT_A_MEMBER) return OMPI_SUCCESS;
  const uint32_t number = coll_nagaya_team_number(call, COLL_NAGAYA_BLOCKING, comm);
  nagaya_team** const team = &nagaya_communicator_of(comm)->teams[number];
  if (error == OMPI_SUCCESS) error = coll_nagaya_open_team(comm, call, number, team);
  if (error == OMPI_SUCCESS) error = coll_nagaya_describe_data(call);
  if (OPAL_UNLIKELY(coll_nagaya_is_verbose()) && error == OMPI_SUCCESS)
    coll_nagaya_print_algorithm(call, *team, comm);
  if (error == OMPI_SUCCESS) error = nagaya_mpi_error(nagaya_coll_run(*team, &call->collective));
  coll_nagaya_end_call(call);
  return error;
}

/* Marks the call of one of MPI's vector operations, whose block sizes only the root may know. */
static int varying(coll_nagaya_call* call, int error) {
  call->collective.varies = 1;
  return error;
}

/* Removes the parentheses of a list of parameters. */
#define LIST(...) __VA_ARGS__

/* Defines the functions of an operation. `parameters`: the operation's own, in parentheses, each
 * with a comma behind it. `make`: makes the call `call` of `comm`; its value is an error of Open
 * MPI's. */
#define OPERATION(name, parameters, make)                                                        \
  static int name(LIST parameters struct ompi_communicator_t* comm,                              \
                  mca_coll_base_module_t* module) {                                              \
    coll_nagaya_call made, *const call = &made;                                                  \
    const int error = make;                                                                      \
    return run(call, error, comm);                                                               \
  }                                                                                              \
  static int i##name(LIST parameters struct ompi_communicator_t* comm, ompi_request_t** request, \
                     mca_coll_base_module_t* module) {                                           \
    coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);                    \
    if (made == NULL) return MPI_ERR_NO_MEM;                                                     \
    coll_nagaya_call* const call = &made->call;                                                  \
    const int error = make;                                                                      \
    return coll_nagaya_start(made, error, request);                                              \
  }                                                                                              \
  static int name##_init(LIST parameters struct ompi_communicator_t* comm,                       \
                         struct ompi_info_t* info, ompi_request_t** request,                     \
                         mca_coll_base_module_t* module) {                                       \
    coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);                     \
    if (made == NULL) return MPI_ERR_NO_MEM;                                                     \
    coll_nagaya_call* const call = &made->call;                                                  \
    const int error = make;                                                                      \
    return coll_nagaya_end_init(made, error, request);                                           \
  }

OPERATION(barrier, (), coll_nagaya_call_barrier(call))

OPERATION(bcast, (void* buffer, int count, ompi_datatype_t* type, int root, ),
          coll_nagaya_call_bcast(call, buffer, count, type, root, comm))

OPERATION(gather,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to, int to_count,
           ompi_datatype_t* to_type, int root, ),
          coll_nagaya_call_gather(call, from, from_count, from_type, to, to_count, NULL, NULL,
                                  to_type, root, comm))

OPERATION(gatherv,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to,
           const int* counts, const int* displacements, ompi_datatype_t* to_type, int root, ),
          varying(call, coll_nagaya_call_gather(call, from, from_count, from_type, to, 0, counts,
                                                displacements, to_type, root, comm)))

OPERATION(scatter,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to, int to_count,
           ompi_datatype_t* to_type, int root, ),
          coll_nagaya_call_scatter(call, from, from_count, NULL, NULL, from_type, to, to_count,
                                   to_type, root, comm))

OPERATION(scatterv,
          (const void* from, const int* counts, const int* displacements,
           ompi_datatype_t* from_type, void* to, int to_count, ompi_datatype_t* to_type,
           int root, ),
          varying(call, coll_nagaya_call_scatter(call, from, 0, counts, displacements, from_type,
                                                 to, to_count, to_type, root, comm)))

OPERATION(allgather,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to, int to_count,
           ompi_datatype_t* to_type, ),
          coll_nagaya_call_allgather(call, from, from_count, from_type, to, to_count, NULL, NULL,
                                     to_type, comm))

OPERATION(allgatherv,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to,
           const int* counts, const int* displacements, ompi_datatype_t* to_type, ),
          coll_nagaya_call_allgather(call, from, from_count, from_type, to, 0, counts,
                                     displacements, to_type, comm))

static coll_nagaya_side equal_blocks(const void* buffer, int count, ompi_datatype_t* type) {
  return (coll_nagaya_side){.buffer = (char*)buffer, .type = type, .count = (size_t)count};
}
static coll_nagaya_side listed_blocks(const void* buffer, const int* counts,
                                      const int* displacements, ompi_datatype_t* type,
                                      ompi_datatype_t* const* types) {
  return (coll_nagaya_side){.buffer = (char*)buffer,
                            .type = type,
                            .types = types,
                            .counts = counts,
                            .displacements = displacements};
}

OPERATION(alltoall,
          (const void* from, int from_count, ompi_datatype_t* from_type, void* to, int to_count,
           ompi_datatype_t* to_type, ),
          coll_nagaya_call_alltoall(call, equal_blocks(from, from_count, from_type),
                                    equal_blocks(to, to_count, to_type), comm))

OPERATION(alltoallv,
          (const void* from, const int* from_counts, const int* from_displacements,
           ompi_datatype_t* from_type, void* to, const int* to_counts, const int* to_displacements,
           ompi_datatype_t* to_type, ),
          coll_nagaya_call_alltoall(
              call, listed_blocks(from, from_counts, from_displacements, from_type, NULL),
              listed_blocks(to, to_counts, to_displacements, to_type, NULL), comm))

OPERATION(alltoallw,
          (const void* from, const int* from_counts, const int* from_displacements,
           ompi_datatype_t* const* from_types, void* to, const int* to_counts,
           const int* to_displacements, ompi_datatype_t* const* to_types, ),
          coll_nagaya_call_alltoall(
              call, listed_blocks(from, from_counts, from_displacements, NULL, from_types),
              listed_blocks(to, to_counts, to_displacements, NULL, to_types), comm))

OPERATION(reduce,
          (const void* from, void* to, int count, ompi_datatype_t* type, struct ompi_op_t* op,
           int root, ),
          coll_nagaya_call_reduction(call, NAGAYA_REDUCE, from, to, count, type, op, root))

#define REDUCTION(name, kind)                                                                 \
  OPERATION(                                                                                  \
      name,                                                                                   \
      (const void* from, void* to, int count, ompi_datatype_t* type, struct ompi_op_t* op, ), \
      coll_nagaya_call_reduction(call, kind, from, to, count, type, op, 0))
REDUCTION(allreduce, NAGAYA_ALLREDUCE)
REDUCTION(scan, NAGAYA_SCAN)
REDUCTION(exscan, NAGAYA_EXSCAN)

OPERATION(reduce_scatter,
          (const void* from, void* to, const int* counts, ompi_datatype_t* type,
           struct ompi_op_t* op, ),
          coll_nagaya_call_reduce_scatter(call, from, to, 0, counts, type, op, comm))

OPERATION(reduce_scatter_block,
          (const void* from, void* to, int count, ompi_datatype_t* type, struct ompi_op_t* op, ),
          coll_nagaya_call_reduce_scatter(call, from, to, count, NULL, type, op, comm))

void coll_nagaya_set_functions(mca_coll_base_module_t* module) {
#define SET(name)                 \
  module->coll_##name = name;     \
  module->coll_i##name = i##name; \
  module->coll_##name##_init = name##_init
  SET(barrier);
  SET(bcast);
  SET(gather);
  SET(gatherv);
  SET(scatter);
  SET(scatterv);
  SET(allgather);
  SET(allgatherv);
  SET(alltoall);
  SET(alltoallv);
  SET(alltoallw);
  SET(reduce);
  SET(allreduce);
  SET(scan);
  SET(exscan);
  SET(reduce_scatter);
  SET(reduce_scatter_block);
#undef SET
}
