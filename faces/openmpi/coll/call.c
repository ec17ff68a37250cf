/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll_nagaya.h"

static const nagaya_blocks no_blocks;

/* Initialises a call field by field: clearing all of it costs as much as a short collective. */
static void begin(coll_nagaya_call* call, nagaya_collective_kind kind, int root) {
  nagaya_collective* const collective = &call->collective;
  call->members = COLL_NAGAYA_ALL;
  collective->kind = kind;
  collective->root = (uint32_t)root;
  collective->varies = 0;
  collective->send = collective->receive = no_blocks;
  collective->may_detach = 0;
  collective->is_exact = 0;
  collective->elements.count = collective->elements.extent = 0;
  collective->elements.copy = NULL;
  collective->store = NULL;
  collective->complete = NULL;
  call->send.blocks = call->receive.blocks = 0;
  call->op = NULL;
  call->packed = call->send_block_table = call->receive_block_table = NULL;
  call->send_runs = call->receive_runs = NULL;
  call->counts = NULL;
  call->types = NULL;
  call->lists[0] = call->lists[1] = NULL;
}

static coll_nagaya_side one_block(const void* buffer, int count, ompi_datatype_t* type) {
  return (coll_nagaya_side){
      .buffer = (char*)buffer, .type = type, .count = (size_t)count, .blocks = 1};
}

static coll_nagaya_side block_of_each(const void* buffer, int count, const int* counts,
                                      const int* displacements, ompi_datatype_t* type) {
  return (coll_nagaya_side){.buffer = (char*)buffer,
                            .type = type,
                            .count = (size_t)count,
                            .counts = counts,
                            .displacements = displacements};
}

/* Gives a side a block for each rank; in an intercommunicator for each rank of the remote group,
 * and none for the other ranks of the call's team. */
static void set_blocks(coll_nagaya_side* side, const coll_nagaya_call* call,
                       struct ompi_communicator_t* comm) {
  const uint32_t size = (uint32_t)ompi_comm_size(comm);
  side->blocks = OMPI_COMM_IS_INTER(comm) ? (uint32_t)ompi_comm_remote_size(comm) : size;
  if (call->members == COLL_NAGAYA_ROOTED)
    side->ranks_behind = 1;
  else if (OMPI_COMM_IS_INTER(comm))
    *(coll_nagaya_is_local_group_first(comm) ? &side->ranks_before : &side->ranks_behind) = size;
}

/* ---- roots --------------------------------------------------------------------------------- */

static bool is_root(int root, struct ompi_communicator_t* comm) {
  return OMPI_COMM_IS_INTER(comm) ? root == MPI_ROOT : ompi_comm_rank(comm) == root;
}

/* Returns false if only other processes do the call. */
static bool begin_rooted(coll_nagaya_call* call, nagaya_collective_kind kind, int root,
                         struct ompi_communicator_t* comm) {
  if (!OMPI_COMM_IS_INTER(comm)) {
    begin(call, kind, root);
    return true;
  }
  begin(call, kind, root == MPI_ROOT ? ompi_comm_remote_size(comm) : ompi_comm_size(comm));
  call->members = root == MPI_PROC_NULL ? COLL_NAGAYA_NOT_A_MEMBER : COLL_NAGAYA_ROOTED;
  call->root = root;
  return root != MPI_PROC_NULL;
}

/* Whether the caller has a block of its own: the root of an intercommunicator has none. */
static bool has_own_block(int root, struct ompi_communicator_t* comm) {
  return !OMPI_COMM_IS_INTER(comm) || !is_root(root, comm);
}

/* ---- data that move ------------------------------------------------------------------------ */

int coll_nagaya_call_barrier(coll_nagaya_call* call) {
  begin(call, NAGAYA_BARRIER, 0);
  return OMPI_SUCCESS;
}

int coll_nagaya_call_bcast(coll_nagaya_call* call, void* buffer, int count, ompi_datatype_t* type,
                           int root, struct ompi_communicator_t* comm) {
  if (!begin_rooted(call, NAGAYA_BCAST, root, comm)) return OMPI_SUCCESS;
  coll_nagaya_side* const side = is_root(root, comm) ? &call->send : &call->receive;
  *side = one_block(buffer, count, type);
  return OMPI_SUCCESS;
}

int coll_nagaya_call_gather(coll_nagaya_call* call, const void* send, int send_count,
                            ompi_datatype_t* send_type, void* receive, int count, const int* counts,
                            const int* displacements, ompi_datatype_t* receive_type, int root,
                            struct ompi_communicator_t* comm) {
  if (!begin_rooted(call, NAGAYA_GATHER, root, comm)) return OMPI_SUCCESS;
  if (send != MPI_IN_PLACE && has_own_block(root, comm))
    call->send = one_block(send, send_count, send_type);
  if (!is_root(root, comm)) return OMPI_SUCCESS;
  call->receive = block_of_each(receive, count, counts, displacements, receive_type);
  set_blocks(&call->receive, call, comm);
  return OMPI_SUCCESS;
}

int coll_nagaya_call_scatter(coll_nagaya_call* call, const void* send, int count, const int* counts,
                             const int* displacements, ompi_datatype_t* send_type, void* receive,
                             int receive_count, ompi_datatype_t* receive_type, int root,
                             struct ompi_communicator_t* comm) {
  if (!begin_rooted(call, NAGAYA_SCATTER, root, comm)) return OMPI_SUCCESS;
  if (receive != MPI_IN_PLACE && has_own_block(root, comm))
    call->receive = one_block(receive, receive_count, receive_type);
  if (!is_root(root, comm)) return OMPI_SUCCESS;
  call->send = block_of_each(send, count, counts, displacements, send_type);
  set_blocks(&call->send, call, comm);
  return OMPI_SUCCESS;
}

/* Returns the caller's block where it belongs in the receive side. */
static coll_nagaya_side block_in_place(const coll_nagaya_side* all, int rank) {
  const ptrdiff_t extent = all->type->super.ub - all->type->super.lb;
  coll_nagaya_side own = *all;
  own.blocks = 1;
  if (all->counts != NULL) own.count = (size_t)all->counts[rank];
  own.counts = own.displacements = NULL;
  own.buffer += extent * (all->displacements != NULL ? all->displacements[rank]
                                                     : (ptrdiff_t)rank * (ptrdiff_t)all->count);
  return own;
}

int coll_nagaya_call_allgather(coll_nagaya_call* call, const void* send, int send_count,
                               ompi_datatype_t* send_type, void* receive, int count,
                               const int* counts, const int* displacements,
                               ompi_datatype_t* receive_type, struct ompi_communicator_t* comm) {
  const coll_nagaya_side to = block_of_each(receive, count, counts, displacements, receive_type);
  if (OMPI_COMM_IS_INTER(comm)) {
    coll_nagaya_side from = one_block(send, send_count, send_type);
    from.is_for_all = true;
    return coll_nagaya_call_alltoall(call, from, to, comm);
  }
  begin(call, NAGAYA_ALLGATHER, 0);
  call->receive = to;
  set_blocks(&call->receive, call, comm);
  call->send = send == MPI_IN_PLACE ? block_in_place(&call->receive, ompi_comm_rank(comm))
                                    : one_block(send, send_count, send_type);
  return OMPI_SUCCESS;
}

int coll_nagaya_call_alltoall(coll_nagaya_call* call, coll_nagaya_side send,
                              coll_nagaya_side receive, struct ompi_communicator_t* comm) {
  begin(call, NAGAYA_ALLTOALL, 0);
  call->collective.varies =
      send.counts != NULL || receive.counts != NULL || OMPI_COMM_IS_INTER(comm);
  set_blocks(&receive, call, comm);
  set_blocks(&send, call, comm);
  call->send = send.buffer == MPI_IN_PLACE ? receive : send;
  call->receive = receive;
  return OMPI_SUCCESS;
}

/* ---- data that are reduced ----------------------------------------------------------------- */

/* Open MPI's functions take an int; the elements of several ranks may be more. */
enum { MAX_ELEMENTS_AT_ONCE = 1 << 30 };

static void reduce(void* context, const void* in, void* inout, size_t count) {
  const coll_nagaya_call* const call = context;
  const size_t bytes_at_once = MAX_ELEMENTS_AT_ONCE * call->collective.elements.extent;
  for (; count > MAX_ELEMENTS_AT_ONCE; count -= MAX_ELEMENTS_AT_ONCE) {
    ompi_op_reduce(call->op, (void*)in, inout, MAX_ELEMENTS_AT_ONCE, call->type);
    in = (const char*)in + bytes_at_once;
    inout = (char*)inout + bytes_at_once;
  }
  ompi_op_reduce(call->op, (void*)in, inout, (int)count, call->type);
}

static void copy(void* context, void* to, const void* from, size_t count) {
  const coll_nagaya_call* const call = context;
  const size_t bytes_at_once = MAX_ELEMENTS_AT_ONCE * call->collective.elements.extent;
  for (; count > MAX_ELEMENTS_AT_ONCE; count -= MAX_ELEMENTS_AT_ONCE) {
    ompi_datatype_copy_content_same_ddt(call->type, MAX_ELEMENTS_AT_ONCE, to, (char*)from);
    from = (const char*)from + bytes_at_once;
    to = (char*)to + bytes_at_once;
  }
  ompi_datatype_copy_content_same_ddt(call->type, (int32_t)count, to, (char*)from);
}

static void describe_elements(coll_nagaya_call* call, size_t count) {
  const opal_datatype_t* const type = &call->type->super;
  const ptrdiff_t extent = type->ub - type->lb;
  const bool has_gaps = (size_t)extent != type->size || type->true_lb != 0 ||
                        !opal_datatype_is_contiguous_memory_layout(type, 2);
  call->collective.elements = (nagaya_elements){
      .count = count,
      .extent = (size_t)extent,
      .reduce = reduce,
      .copy = has_gaps ? copy : NULL,
      .context = call,
      .commutes = ompi_op_is_commute(call->op),
      .true_lb = type->true_lb,
      .true_extent = (size_t)(type->true_ub - type->true_lb),
  };
}

static void begin_reduction(coll_nagaya_call* call, nagaya_collective_kind kind, const void* send,
                            void* receive, ompi_datatype_t* type, struct ompi_op_t* op, int root) {
  begin(call, kind, root);
  call->op = op;
  call->type = type;
  call->collective.send.base = send == MPI_IN_PLACE ? receive : (void*)send;
  call->collective.receive.base = receive;
}

int coll_nagaya_call_reduction(coll_nagaya_call* call, nagaya_collective_kind kind,
                               const void* send, void* receive, int count, ompi_datatype_t* type,
                               struct ompi_op_t* op, int root) {
  begin_reduction(call, kind, send, receive, type, op, root);
  describe_elements(call, (size_t)count);
  return OMPI_SUCCESS;
}

int coll_nagaya_call_reduce_scatter(coll_nagaya_call* call, const void* send, void* receive,
                                    int count, const int* counts, ompi_datatype_t* type,
                                    struct ompi_op_t* op, struct ompi_communicator_t* comm) {
  const size_t size = (size_t)ompi_comm_size(comm);
  begin_reduction(call, NAGAYA_REDUCE_SCATTER, send, receive, type, op, 0);
  size_t total = (size_t)count * size;
  if (counts != NULL) {
    call->counts = malloc(size * sizeof *call->counts);
    if (call->counts == NULL) return MPI_ERR_NO_MEM;
    total = 0;
    for (size_t n = 0; n < size; ++n) total += call->counts[n] = (size_t)counts[n];
  }
  describe_elements(call, total);
  call->collective.elements.count_of = call->counts;
  return OMPI_SUCCESS;
}
