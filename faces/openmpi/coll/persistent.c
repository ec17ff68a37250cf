/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c - the functions of the module that make persistent requests. */
#include "coll_nagaya.h"

static int barrier_init(struct ompi_communicator_t* comm, struct ompi_info_t* info,
                        ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_barrier(&made->call);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int bcast_init(void* buffer, int count, ompi_datatype_t* type, int root,
                      struct ompi_communicator_t* comm, struct ompi_info_t* info,
                      ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_bcast(&made->call, buffer, count, type, root, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int gather_init(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                       int receive_count, ompi_datatype_t* receive_type, int root,
                       struct ompi_communicator_t* comm, struct ompi_info_t* info,
                       ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_gather(&made->call, send, send_count, send_type, receive, receive_count, NULL,
                          NULL, receive_type, root, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int gatherv_init(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                        const int* counts, const int* displacements, ompi_datatype_t* receive_type,
                        int root, struct ompi_communicator_t* comm, struct ompi_info_t* info,
                        ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_gather(&made->call, send, send_count, send_type, receive, 0, counts,
                          displacements, receive_type, root, comm);
  made->call.collective.varies = 1;
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int scatter_init(const void* send, int send_count, ompi_datatype_t* send_type, void* receive,
                        int receive_count, ompi_datatype_t* receive_type, int root,
                        struct ompi_communicator_t* comm, struct ompi_info_t* info,
                        ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_scatter(&made->call, send, send_count, NULL, NULL, send_type, receive,
                           receive_count, receive_type, root, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int scatterv_init(const void* send, const int* counts, const int* displacements,
                         ompi_datatype_t* send_type, void* receive, int receive_count,
                         ompi_datatype_t* receive_type, int root, struct ompi_communicator_t* comm,
                         struct ompi_info_t* info, ompi_request_t** request,
                         mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_scatter(&made->call, send, 0, counts, displacements, send_type, receive,
                           receive_count, receive_type, root, comm);
  made->call.collective.varies = 1;
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int allgather_init(const void* send, int send_count, ompi_datatype_t* send_type,
                          void* receive, int receive_count, ompi_datatype_t* receive_type,
                          struct ompi_communicator_t* comm, struct ompi_info_t* info,
                          ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_allgather(&made->call, send, send_count, send_type, receive, receive_count, NULL,
                             NULL, receive_type, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int allgatherv_init(const void* send, int send_count, ompi_datatype_t* send_type,
                           void* receive, const int* counts, const int* displacements,
                           ompi_datatype_t* receive_type, struct ompi_communicator_t* comm,
                           struct ompi_info_t* info, ompi_request_t** request,
                           mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_allgather(&made->call, send, send_count, send_type, receive, 0, counts,
                             displacements, receive_type, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int alltoall_init(const void* send, int send_count, ompi_datatype_t* send_type,
                         void* receive, int receive_count, ompi_datatype_t* receive_type,
                         struct ompi_communicator_t* comm, struct ompi_info_t* info,
                         ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const coll_nagaya_side from = {
      .buffer = (char*)send, .type = send_type, .count = (size_t)send_count};
  const coll_nagaya_side to = {
      .buffer = receive, .type = receive_type, .count = (size_t)receive_count};
  coll_nagaya_call_alltoall(&made->call, from, to, comm);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int alltoallv_init(const void* send, const int* send_counts, const int* send_displacements,
                          ompi_datatype_t* send_type, void* receive, const int* receive_counts,
                          const int* receive_displacements, ompi_datatype_t* receive_type,
                          struct ompi_communicator_t* comm, struct ompi_info_t* info,
                          ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
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
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int alltoallw_init(const void* send, const int* send_counts, const int* send_displacements,
                          ompi_datatype_t* const* send_types, void* receive,
                          const int* receive_counts, const int* receive_displacements,
                          ompi_datatype_t* const* receive_types, struct ompi_communicator_t* comm,
                          struct ompi_info_t* info, ompi_request_t** request,
                          mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
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
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int reduce_init(const void* send, void* receive, int count, ompi_datatype_t* type,
                       struct ompi_op_t* op, int root, struct ompi_communicator_t* comm,
                       struct ompi_info_t* info, ompi_request_t** request,
                       mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_REDUCE, send, receive, count, type, op, root);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int allreduce_init(const void* send, void* receive, int count, ompi_datatype_t* type,
                          struct ompi_op_t* op, struct ompi_communicator_t* comm,
                          struct ompi_info_t* info, ompi_request_t** request,
                          mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_ALLREDUCE, send, receive, count, type, op, 0);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int scan_init(const void* send, void* receive, int count, ompi_datatype_t* type,
                     struct ompi_op_t* op, struct ompi_communicator_t* comm,
                     struct ompi_info_t* info, ompi_request_t** request,
                     mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_SCAN, send, receive, count, type, op, 0);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int exscan_init(const void* send, void* receive, int count, ompi_datatype_t* type,
                       struct ompi_op_t* op, struct ompi_communicator_t* comm,
                       struct ompi_info_t* info, ompi_request_t** request,
                       mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  coll_nagaya_call_reduction(&made->call, NAGAYA_EXSCAN, send, receive, count, type, op, 0);
  return coll_nagaya_end_init(made, OMPI_SUCCESS, request);
}

static int reduce_scatter_init(const void* send, void* receive, const int* counts,
                               ompi_datatype_t* type, struct ompi_op_t* op,
                               struct ompi_communicator_t* comm, struct ompi_info_t* info,
                               ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const int error =
      coll_nagaya_call_reduce_scatter(&made->call, send, receive, 0, counts, type, op, comm);
  return coll_nagaya_end_init(made, error, request);
}

static int reduce_scatter_block_init(const void* send, void* receive, int count,
                                     ompi_datatype_t* type, struct ompi_op_t* op,
                                     struct ompi_communicator_t* comm, struct ompi_info_t* info,
                                     ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_nagaya_request_t* const made = coll_nagaya_new_request(comm, true);
  if (made == NULL) return MPI_ERR_NO_MEM;
  const int error =
      coll_nagaya_call_reduce_scatter(&made->call, send, receive, count, NULL, type, op, comm);
  return coll_nagaya_end_init(made, error, request);
}

void coll_nagaya_set_persistent(mca_coll_base_module_t* module) {
  module->coll_barrier_init = barrier_init;
  module->coll_bcast_init = bcast_init;
  module->coll_gather_init = gather_init;
  module->coll_gatherv_init = gatherv_init;
  module->coll_scatter_init = scatter_init;
  module->coll_scatterv_init = scatterv_init;
  module->coll_allgather_init = allgather_init;
  module->coll_allgatherv_init = allgatherv_init;
  module->coll_alltoall_init = alltoall_init;
  module->coll_alltoallv_init = alltoallv_init;
  module->coll_alltoallw_init = alltoallw_init;
  module->coll_reduce_init = reduce_init;
  module->coll_allreduce_init = allreduce_init;
  module->coll_scan_init = scan_init;
  module->coll_exscan_init = exscan_init;
  module->coll_reduce_scatter_init = reduce_scatter_init;
  module->coll_reduce_scatter_block_init = reduce_scatter_block_init;
}
