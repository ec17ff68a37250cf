/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.c - the non-blocking functions of the module. */
#include "coll_nagaya.h"

static int ibarrier(struct ompi_communicator_t* comm, ompi_request_t** request,
                    mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_barrier(&made->call);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ibcast(void* buffer, int count, ompi_datatype_t* type, int root,
                  struct ompi_communicator_t* comm, ompi_request_t** request,
                  mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_bcast(&made->call, buffer, count, type, root, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int igather(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                   int receive_count, ompi_datatype_t* receive_type, int root,
                   struct ompi_communicator_t* comm, ompi_request_t** request,
                   mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_gather(&made->call, send, send_count, send_type, receive, receive_count, NULL,
                          NULL, receive_type, root, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int igatherv(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                    const int* counts, const int* displacements, ompi_datatype_t* receive_type,
                    int root, struct ompi_communicator_t* comm, ompi_request_t** request,
                    mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_gather(&made->call, send, send_count, send_type, receive, 0, counts,
                          displacements, receive_type, root, comm);
  made->call.collective.varies = 1;
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iscatter(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                    int receive_count, ompi_datatype_t* receive_type, int root,
                    struct ompi_communicator_t* comm, ompi_request_t** request,
                    mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_scatter(&made->call, send, send_count, NULL, NULL, send_type, receive,
                           receive_count, receive_type, root, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iscatterv(const void* send, const int* counts, const int* displacements,
                     ompi_datatype_t* send_type, void* receive, int receive_count,
                     ompi_datatype_t* receive_type, int root, struct ompi_communicator_t* comm,
                     ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_scatter(&made->call, send, 0, counts, displacements, send_type, receive,
                           receive_count, receive_type, root, comm);
  made->call.collective.varies = 1;
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iallgather(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                      int receive_count, ompi_datatype_t* receive_type,
                      struct ompi_communicator_t* comm, ompi_request_t** request,
                      mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_allgather(&made->call, send, send_count, send_type, receive, receive_count, NULL,
                             NULL, receive_type, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iallgatherv(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                       const int* counts, const int* displacements, ompi_datatype_t* receive_type,
                       struct ompi_communicator_t* comm, ompi_request_t** request,
                       mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_allgather(&made->call, send, send_count, send_type, receive, 0, counts,
                             displacements, receive_type, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ialltoall(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                     int receive_count, ompi_datatype_t* receive_type,
                     struct ompi_communicator_t* comm, ompi_request_t** request,
                     mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const coll_nagaya_side from = {
      .buffer = (char*)send, .type = send_type, .count = (size_t)send_count};
  const coll_nagaya_side to = {
      .buffer = receive, .type = receive_type, .count = (size_t)receive_count};
  coll_nagaya_call_alltoall(&made->call, from, to, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ialltoallv(const void* send, const int* send_counts, const int* send_displacements,
                      ompi_datatype_t* send_type, void* receive, const int* receive_counts,
                      const int* receive_displacements, ompi_datatype_t* receive_type,
                      struct ompi_communicator_t* comm, ompi_request_t** request,
                      mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const coll_nagaya_side from = {.buffer = (char*)send,
                                 .type = send_type,
                                 .counts = send_counts,
                                 .displacements = send_displacements};
  const coll_nagaya_side to = {.buffer = receive,
                               .type = receive_type,
                               .counts = receive_counts,
                               .displacements = receive_displacements};
  coll_nagaya_call_alltoall(&made->call, from, to, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ialltoallw(const void* send, const int* send_counts, const int* send_displacements,
                      ompi_datatype_t* const* send_types, void* receive, const int* receive_counts,
                      const int* receive_displacements, ompi_datatype_t* const* receive_types,
                      struct ompi_communicator_t* comm, ompi_request_t** request,
                      mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const coll_nagaya_side from = {.buffer = (char*)send,
                                 .types = send_types,
                                 .counts = send_counts,
                                 .displacements = send_displacements};
  const coll_nagaya_side to = {.buffer = receive,
                               .types = receive_types,
                               .counts = receive_counts,
                               .displacements = receive_displacements};
  coll_nagaya_call_alltoall(&made->call, from, to, comm);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ireduce(const void* send, void* receive, int count, ompi_datatype_t* type,
                   struct ompi_op_t* op, int root, struct ompi_communicator_t* comm,
                   ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_REDUCE, send, receive, count, type, op, root);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iallreduce(const void* send, void* receive, int count, ompi_datatype_t* type,
                      struct ompi_op_t* op, struct ompi_communicator_t* comm,
                      ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_ALLREDUCE, send, receive, count, type, op, 0);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iscan(const void* send, void* receive, int count, ompi_datatype_t* type,
                 struct ompi_op_t* op, struct ompi_communicator_t* comm, ompi_request_t** request,
                 mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_SCAN, send, receive, count, type, op, 0);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int iexscan(const void* send, void* receive, int count, ompi_datatype_t* type,
                   struct ompi_op_t* op, struct ompi_communicator_t* comm, ompi_request_t** request,
                   mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_EXSCAN, send, receive, count, type, op, 0);
  return coll_nagaya_start(made, OMPI_SUCCESS, request);
}

static int ireduce_scatter(const void* send, void* receive, const int* counts,
                           ompi_datatype_t* type, struct ompi_op_t* op,
                           struct ompi_communicator_t* comm, ompi_request_t** request,
                           mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const int error =
      coll_nagaya_call_reduce_scatter(&made->call, send, receive, 0, counts, type, op, comm);
  return coll_nagaya_start(made, error, request);
}

static int ireduce_scatter_block(const void* send, void* receive, int count, ompi_datatype_t* type,
                                 struct ompi_op_t* op, struct ompi_communicator_t* comm,
                                 ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, false);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const int error =
      coll_nagaya_call_reduce_scatter(&made->call, send, receive, count, NULL, type, op, comm);
  return coll_nagaya_start(made, error, request);
}

void coll_nagaya_set_nonblocking(mca_coll_base_module_t* module) {
  module->coll_ibarrier = ibarrier;
  module->coll_ibcast = ibcast;
  module->coll_igather = igather;
  module->coll_igatherv = igatherv;
  module->coll_iscatter = iscatter;
  module->coll_iscatterv = iscatterv;
  module->coll_iallgather = iallgather;
  module->coll_iallgatherv = iallgatherv;
  module->coll_ialltoall = ialltoall;
  module->coll_ialltoallv = ialltoallv;
  module->coll_ialltoallw = ialltoallw;
  module->coll_ireduce = ireduce;
  module->coll_iallreduce = iallreduce;
  module->coll_iscan = iscan;
  module->coll_iexscan = iexscan;
  module->coll_ireduce_scatter = ireduce_scatter;
  module->coll_ireduce_scatter_block = ireduce_scatter_block;
}
