// SPDX-License-Identifier: BSD-3-Clause
// collectives.cc - the arguments of the collectives, as sides and elements of a call.
#include "calls/calls.h"
#include "calls/collective_call.h"
#include "calls/forms.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// ---- data that move
// ---------------------------------------------------------------------------------------

int barrier(CollectiveCall& call) {
  return call.begin(NAGAYA_BARRIER);
}

int bcast(CollectiveCall& call, void* buffer, MPI_Count count, MPI_Datatype type, int root) {
  if (const int error = call.begin(NAGAYA_BCAST, root)) return error;
  call.expect_exact_size();
  return (call.is_root() ? call.send : call.receive).set_one(buffer, count, type);
}

int gather(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
           void* to, MPI_Count to_count, MPI_Datatype to_type, int root) {
  if (const int error = call.begin(NAGAYA_GATHER, root)) return error;
  if (const int error = call.set_own(call.send, from, from_count, from_type)) return error;
  return call.is_root() ? call.receive.set_equal(to, to_count, to_type, call.size()) : MPI_SUCCESS;
}

int gatherv(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
            void* to, Numbers counts, Numbers displacements, MPI_Datatype to_type, int root) {
  if (const int error = call.begin(NAGAYA_GATHER, root)) return error;
  call.vary();
  if (const int error = call.set_own(call.send, from, from_count, from_type)) return error;
  if (!call.is_root()) return MPI_SUCCESS;
  return call.receive.set_listed(to, counts, displacements, to_type, call.size());
}

int scatter(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
            void* to, MPI_Count to_count, MPI_Datatype to_type, int root) {
  if (const int error = call.begin(NAGAYA_SCATTER, root)) return error;
  if (const int error = call.set_own(call.receive, to, to_count, to_type)) return error;
  return call.is_root() ? call.send.set_equal(from, from_count, from_type, call.size())
                        : MPI_SUCCESS;
}

int scatterv(CollectiveCall& call, const void* from, Numbers counts, Numbers displacements,
             MPI_Datatype from_type, void* to, MPI_Count to_count, MPI_Datatype to_type, int root) {
  if (const int error = call.begin(NAGAYA_SCATTER, root)) return error;
  call.vary();
  if (const int error = call.set_own(call.receive, to, to_count, to_type)) return error;
  if (!call.is_root()) return MPI_SUCCESS;
  return call.send.set_listed(from, counts, displacements, from_type, call.size());
}

// The caller's block of an allgather, whose receive side is described.
int set_contribution(CollectiveCall& call, const void* from, MPI_Count count, MPI_Datatype type) {
  if (from != MPI_IN_PLACE) return call.send.set_one(from, count, type);
  call.set_in_place();
  call.send.set_block_of(call.receive, call.rank());
  return MPI_SUCCESS;
}

int allgather(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
              void* to, MPI_Count to_count, MPI_Datatype to_type) {
  call.begin(NAGAYA_ALLGATHER);
  if (const int error = call.receive.set_equal(to, to_count, to_type, call.size())) return error;
  return set_contribution(call, from, from_count, from_type);
}

int allgatherv(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
               void* to, Numbers counts, Numbers displacements, MPI_Datatype to_type) {
  call.begin(NAGAYA_ALLGATHER);
  if (const int error = call.receive.set_listed(to, counts, displacements, to_type, call.size()))
    return error;
  return set_contribution(call, from, from_count, from_type);
}

int alltoall(CollectiveCall& call, const void* from, MPI_Count from_count, MPI_Datatype from_type,
             void* to, MPI_Count to_count, MPI_Datatype to_type) {
  call.begin(NAGAYA_ALLTOALL);
  if (const int error = call.receive.set_equal(to, to_count, to_type, call.size())) return error;
  if (from == MPI_IN_PLACE) {
    call.set_in_place();
    return call.send.set_equal(to, to_count, to_type, call.size());
  }
  return call.send.set_equal(from, from_count, from_type, call.size());
}

int alltoallv(CollectiveCall& call, const void* from, Numbers from_counts,
              Numbers from_displacements, MPI_Datatype from_type, void* to, Numbers to_counts,
              Numbers to_displacements, MPI_Datatype to_type) {
  call.begin(NAGAYA_ALLTOALL);
  call.vary();
  if (const int error =
          call.receive.set_listed(to, to_counts, to_displacements, to_type, call.size()))
    return error;
  if (from == MPI_IN_PLACE) {
    call.set_in_place();
    return call.send.set_listed(to, to_counts, to_displacements, to_type, call.size());
  }
  return call.send.set_listed(from, from_counts, from_displacements, from_type, call.size());
}

int alltoallw(CollectiveCall& call, const void* from, Numbers from_counts,
              Numbers from_displacements, const MPI_Datatype* from_types, void* to,
              Numbers to_counts, Numbers to_displacements, const MPI_Datatype* to_types) {
  call.begin(NAGAYA_ALLTOALL);
  call.vary();
  if (const int error =
          call.receive.set_typed(to, to_counts, to_displacements, to_types, call.size()))
    return error;
  if (from == MPI_IN_PLACE) {
    call.set_in_place();
    return call.send.set_typed(to, to_counts, to_displacements, to_types, call.size());
  }
  return call.send.set_typed(from, from_counts, from_displacements, from_types, call.size());
}

// ---- data that are reduced
// --------------------------------------------------------------------------------

int reduce(CollectiveCall& call, const void* from, void* to, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root) {
  if (const int error = call.begin(NAGAYA_REDUCE, root)) return error;
  return call.set_elements(from, to, count, type, op, true);
}

template <nagaya_collective_kind kind>
int reduce_to_all(CollectiveCall& call, const void* from, void* to, MPI_Count count,
                  MPI_Datatype type, MPI_Op op) {
  call.begin(kind);
  return call.set_elements(from, to, count, type, op, false);
}
constexpr auto allreduce = reduce_to_all<NAGAYA_ALLREDUCE>;
constexpr auto scan = reduce_to_all<NAGAYA_SCAN>;
constexpr auto exscan = reduce_to_all<NAGAYA_EXSCAN>;

int reduce_scatter(CollectiveCall& call, const void* from, void* to, Numbers counts,
                   MPI_Datatype type, MPI_Op op) {
  call.begin(NAGAYA_REDUCE_SCATTER);
  MPI_Count total = 0;
  if (const int error = call.set_shares(counts, total)) return error;
  return call.set_elements(from, to, total, type, op, false);
}

int reduce_scatter_block(CollectiveCall& call, const void* from, void* to, MPI_Count count,
                         MPI_Datatype type, MPI_Op op) {
  call.begin(NAGAYA_REDUCE_SCATTER);
  return call.set_elements(from, to, count * call.size(), type, op, false);
}

}  // namespace

void add_collectives(Functions& ours) {
  using F = Functions;
  enter<barrier, &F::Barrier, &F::Ibarrier, &F::Barrier_init>(ours);
  enter<bcast, &F::Bcast, &F::Bcast_c, &F::Ibcast, &F::Ibcast_c, &F::Bcast_init, &F::Bcast_init_c>(
      ours);
  enter<gather, &F::Gather, &F::Gather_c, &F::Igather, &F::Igather_c, &F::Gather_init,
        &F::Gather_init_c>(ours);
  enter<gatherv, &F::Gatherv, &F::Gatherv_c, &F::Igatherv, &F::Igatherv_c, &F::Gatherv_init,
        &F::Gatherv_init_c>(ours);
  enter<scatter, &F::Scatter, &F::Scatter_c, &F::Iscatter, &F::Iscatter_c, &F::Scatter_init,
        &F::Scatter_init_c>(ours);
  enter<scatterv, &F::Scatterv, &F::Scatterv_c, &F::Iscatterv, &F::Iscatterv_c, &F::Scatterv_init,
        &F::Scatterv_init_c>(ours);
  enter<allgather, &F::Allgather, &F::Allgather_c, &F::Iallgather, &F::Iallgather_c,
        &F::Allgather_init, &F::Allgather_init_c>(ours);
  enter<allgatherv, &F::Allgatherv, &F::Allgatherv_c, &F::Iallgatherv, &F::Iallgatherv_c,
        &F::Allgatherv_init, &F::Allgatherv_init_c>(ours);
  enter<alltoall, &F::Alltoall, &F::Alltoall_c, &F::Ialltoall, &F::Ialltoall_c, &F::Alltoall_init,
        &F::Alltoall_init_c>(ours);
  enter<alltoallv, &F::Alltoallv, &F::Alltoallv_c, &F::Ialltoallv, &F::Ialltoallv_c,
        &F::Alltoallv_init, &F::Alltoallv_init_c>(ours);
  enter<alltoallw, &F::Alltoallw, &F::Alltoallw_c, &F::Ialltoallw, &F::Ialltoallw_c,
        &F::Alltoallw_init, &F::Alltoallw_init_c>(ours);
  enter<reduce, &F::Reduce, &F::Reduce_c, &F::Ireduce, &F::Ireduce_c, &F::Reduce_init,
        &F::Reduce_init_c>(ours);
  enter<allreduce, &F::Allreduce, &F::Allreduce_c, &F::Iallreduce, &F::Iallreduce_c,
        &F::Allreduce_init, &F::Allreduce_init_c>(ours);
  enter<reduce_scatter, &F::Reduce_scatter, &F::Reduce_scatter_c, &F::Ireduce_scatter,
        &F::Ireduce_scatter_c, &F::Reduce_scatter_init, &F::Reduce_scatter_init_c>(ours);
  enter<reduce_scatter_block, &F::Reduce_scatter_block, &F::Reduce_scatter_block_c,
        &F::Ireduce_scatter_block, &F::Ireduce_scatter_block_c, &F::Reduce_scatter_block_init,
        &F::Reduce_scatter_block_init_c>(ours);
  enter<scan, &F::Scan, &F::Scan_c, &F::Iscan, &F::Iscan_c, &F::Scan_init, &F::Scan_init_c>(ours);
  enter<exscan, &F::Exscan, &F::Exscan_c, &F::Iexscan, &F::Iexscan_c, &F::Exscan_init,
        &F::Exscan_init_c>(ours);
  ours.Op_free = Operation::free_op;
  ours.Type_free = Operation::free_type;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
