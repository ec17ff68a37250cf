/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking.c - the blocking functions of the module. */
#include "coll_nagaya.h"

/* Runs and ends a call. `error` is the result of making it. Returns one of Open MPI's errors. */
static int run(coll_nagaya_call* call, int error, struct ompi_communicator_t* comm,
               mca_coll_base_module_t* module) {
  if (call->members == COLL_NAGAYA_NOT_A_MEMBER) return OMPI_SUCCESS;
  const uint32_t number = coll_nagaya_team_number(call, COLL_NAGAYA_BLOCKING, comm);
  nagaya_team** const team = &nagaya_communicator_of(comm)->teams[number];
  if (error == OMPI_SUCCESS) error = coll_nagaya_open_team(comm, call, number, team);
  if (error == OMPI_SUCCESS) error = coll_nagaya_describe_data(call);
  if (OPAL_UNLIKELY(coll_nagaya_is_verbose())) coll_nagaya_print_algorithm(call, *team, comm);
  if (error == OMPI_SUCCESS) error = nagaya_mpi_error(nagaya_coll_run(*team, &call->collective));
  coll_nagaya_end_call(call);
  return error;
}

static int barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_barrier(&call);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int bcast(void* buffer, int count, ompi_datatype_t* type, int root,
                 struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_bcast(&call, buffer, count, type, root, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int gather(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                  int receive_count, ompi_datatype_t* receive_type, int root,
                  struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_gather(&call, send, send_count, send_type, receive, receive_count, NULL, NULL,
                          receive_type, root, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int gatherv(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                   const int* counts, const int* displacements, ompi_datatype_t* receive_type,
                   int root, struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_gather(&call, send, send_count, send_type, receive, 0, counts, displacements,
                          receive_type, root, comm);
  call.collective.varies = 1;
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int scatter(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                   int receive_count, ompi_datatype_t* receive_type, int root,
                   struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_scatter(&call, send, send_count, NULL, NULL, send_type, receive, receive_count,
                           receive_type, root, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int scatterv(const void* send, const int* counts, const int* displacements,
                    ompi_datatype_t* send_type, void* receive, int receive_count,
                    ompi_datatype_t* receive_type, int root, struct ompi_communicator_t* comm,
                    mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_scatter(&call, send, 0, counts, displacements, send_type, receive, receive_count,
                           receive_type, root, comm);
  call.collective.varies = 1;
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int allgather(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                     int receive_count, ompi_datatype_t* receive_type,
                     struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_allgather(&call, send, send_count, send_type, receive, receive_count, NULL, NULL,
                             receive_type, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int allgatherv(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                      const int* counts, const int* displacements, ompi_datatype_t* receive_type,
                      struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_allgather(&call, send, send_count, send_type, receive, 0, counts, displacements,
                             receive_type, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int alltoall(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                    int receive_count, ompi_datatype_t* receive_type,
                    struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  const coll_nagaya_side from = {
      .buffer = (char*)send, .type = send_type, .count = (size_t)send_count};
  const coll_nagaya_side to = {
      .buffer = receive, .type = receive_type, .count = (size_t)receive_count};
  coll_nagaya_call_alltoall(&call, from, to, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int alltoallv(const void* send, const int* send_counts, const int* send_displacements,
                     ompi_datatype_t* send_type, void* receive, const int* receive_counts,
                     const int* receive_displacements, ompi_datatype_t* receive_type,
                     struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  const coll_nagaya_side from = {.buffer = (char*)send,
                                 .type = send_type,
                                 .counts = send_counts,
                                 .displacements = send_displacements};
  const coll_nagaya_side to = {.buffer = receive,
                               .type = receive_type,
                               .counts = receive_counts,
                               .displacements = receive_displacements};
  coll_nagaya_call_alltoall(&call, from, to, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int alltoallw(const void* send, const int* send_counts, const int* send_displacements,
                     ompi_datatype_t* const* send_types, void* receive, const int* receive_counts,
                     const int* receive_displacements, ompi_datatype_t* const* receive_types,
                     struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  const coll_nagaya_side from = {.buffer = (char*)send,
                                 .types = send_types,
                                 .counts = send_counts,
                                 .displacements = send_displacements};
  const coll_nagaya_side to = {.buffer = receive,
                               .types = receive_types,
                               .counts = receive_counts,
                               .displacements = receive_displacements};
  coll_nagaya_call_alltoall(&call, from, to, comm);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int reduce(const void* send, void* receive, int count, ompi_datatype_t* type,
                  struct ompi_op_t* op, int root, struct ompi_communicator_t* comm,
                  mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_reduction(&call, NAGAYA_REDUCE, send, receive, count, type, op, root);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int allreduce(const void* send, void* receive, int count, ompi_datatype_t* type,
                     struct ompi_op_t* op, struct ompi_communicator_t* comm,
                     mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_reduction(&call, NAGAYA_ALLREDUCE, send, receive, count, type, op, 0);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int scan(const void* send, void* receive, int count, ompi_datatype_t* type,
                struct ompi_op_t* op, struct ompi_communicator_t* comm,
                mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_reduction(&call, NAGAYA_SCAN, send, receive, count, type, op, 0);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int exscan(const void* send, void* receive, int count, ompi_datatype_t* type,
                  struct ompi_op_t* op, struct ompi_communicator_t* comm,
                  mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  coll_nagaya_call_reduction(&call, NAGAYA_EXSCAN, send, receive, count, type, op, 0);
  return run(&call, OMPI_SUCCESS, comm, module);
}

static int reduce_scatter(const void* send, void* receive, const int* counts, ompi_datatype_t* type,
                          struct ompi_op_t* op, struct ompi_communicator_t* comm,
                          mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  const int error =
      coll_nagaya_call_reduce_scatter(&call, send, receive, 0, counts, type, op, comm);
  return run(&call, error, comm, module);
}

static int reduce_scatter_block(const void* send, void* receive, int count, ompi_datatype_t* type,
                                struct ompi_op_t* op, struct ompi_communicator_t* comm,
                                mca_coll_base_module_t* module) {
  coll_nagaya_call call;
  const int error =
      coll_nagaya_call_reduce_scatter(&call, send, receive, count, NULL, type, op, comm);
  return run(&call, error, comm, module);
}

void coll_nagaya_set_blocking(mca_coll_base_module_t* module) {
  module->coll_barrier = barrier;
  module->coll_bcast = bcast;
  module->coll_gather = gather;
  module->coll_gatherv = gatherv;
  module->coll_scatter = scatter;
  module->coll_scatterv = scatterv;
  module->coll_allgather = allgather;
  module->coll_allgatherv = allgatherv;
  module->coll_alltoall = alltoall;
  module->coll_alltoallv = alltoallv;
  module->coll_alltoallw = alltoallw;
  module->coll_reduce = reduce;
  module->coll_allreduce = allreduce;
  module->coll_scan = scan;
  module->coll_exscan = exscan;
  module->coll_reduce_scatter = reduce_scatter;
  module->coll_reduce_scatter_block = reduce_scatter_block;
}
