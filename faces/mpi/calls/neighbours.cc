// SPDX-License-Identifier: BSD-3-Clause
// neighbours.cc - the arguments of the neighbourhood collectives.
#include "calls/calls.h"
#include "calls/forms.h"
#include "calls/neighbour_exchange.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

NeighbourBlocks equal(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {buffer, count, nullptr, nullptr, type, nullptr};
}
NeighbourBlocks for_all(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {buffer, count, nullptr, nullptr, type, nullptr, true};
}
NeighbourBlocks listed(const void* buffer, Numbers counts, Numbers displacements,
                       MPI_Datatype type) {
  return {buffer, 0, counts, displacements, type, nullptr};
}
NeighbourBlocks typed(const void* buffer, Numbers counts, Numbers displacements,
                      const MPI_Datatype* types) {
  return {buffer, 0, counts, displacements, MPI_DATATYPE_NULL, types};
}

int allgather(NeighbourExchange& exchange, const void* from, MPI_Count from_count,
              MPI_Datatype from_type, void* to, MPI_Count to_count, MPI_Datatype to_type) {
  return exchange.add(for_all(from, from_count, from_type), equal(to, to_count, to_type));
}

int allgatherv(NeighbourExchange& exchange, const void* from, MPI_Count from_count,
               MPI_Datatype from_type, void* to, Numbers counts, Numbers displacements,
               MPI_Datatype to_type) {
  return exchange.add(for_all(from, from_count, from_type),
                      listed(to, counts, displacements, to_type));
}

int alltoall(NeighbourExchange& exchange, const void* from, MPI_Count from_count,
             MPI_Datatype from_type, void* to, MPI_Count to_count, MPI_Datatype to_type) {
  return exchange.add(equal(from, from_count, from_type), equal(to, to_count, to_type));
}

int alltoallv(NeighbourExchange& exchange, const void* from, Numbers from_counts,
              Numbers from_displacements, MPI_Datatype from_type, void* to, Numbers to_counts,
              Numbers to_displacements, MPI_Datatype to_type) {
  return exchange.add(listed(from, from_counts, from_displacements, from_type),
                      listed(to, to_counts, to_displacements, to_type));
}

int alltoallw(NeighbourExchange& exchange, const void* from, Numbers from_counts,
              Numbers from_displacements, const MPI_Datatype* from_types, void* to,
              Numbers to_counts, Numbers to_displacements, const MPI_Datatype* to_types) {
  return exchange.add(typed(from, from_counts, from_displacements, from_types),
                      typed(to, to_counts, to_displacements, to_types));
}

}  // namespace

void add_neighbours(Functions& ours) {
  using F = Functions;
  enter<allgather, &F::Neighbor_allgather, &F::Neighbor_allgather_c, &F::Ineighbor_allgather,
        &F::Ineighbor_allgather_c, &F::Neighbor_allgather_init, &F::Neighbor_allgather_init_c>(
      ours);
  enter<allgatherv, &F::Neighbor_allgatherv, &F::Neighbor_allgatherv_c, &F::Ineighbor_allgatherv,
        &F::Ineighbor_allgatherv_c, &F::Neighbor_allgatherv_init, &F::Neighbor_allgatherv_init_c>(
      ours);
  enter<alltoall, &F::Neighbor_alltoall, &F::Neighbor_alltoall_c, &F::Ineighbor_alltoall,
        &F::Ineighbor_alltoall_c, &F::Neighbor_alltoall_init, &F::Neighbor_alltoall_init_c>(ours);
  enter<alltoallv, &F::Neighbor_alltoallv, &F::Neighbor_alltoallv_c, &F::Ineighbor_alltoallv,
        &F::Ineighbor_alltoallv_c, &F::Neighbor_alltoallv_init, &F::Neighbor_alltoallv_init_c>(
      ours);
  enter<alltoallw, &F::Neighbor_alltoallw, &F::Neighbor_alltoallw_c, &F::Ineighbor_alltoallw,
        &F::Ineighbor_alltoallw_c, &F::Neighbor_alltoallw_init, &F::Neighbor_alltoallw_init_c>(
      ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
