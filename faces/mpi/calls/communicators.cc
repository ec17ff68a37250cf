// SPDX-License-Identifier: BSD-3-Clause
// communicators.cc - the functions that make a communicator: the MPI beneath makes it, then we
// adopt it. And the one that revokes a communicator.
#include <tuple>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "objects/communicator.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// The function of the standard that calls the one beneath; its last argument is the new
// communicator's place.
template <auto function, class... Arguments>
int make(Arguments... arguments) {
  const int error = call_beneath(beneath.*function, arguments...);
  if (error == MPI_SUCCESS)
    Communicator::adopt(*std::get<sizeof...(arguments) - 1>(std::tie(arguments...)));
  return error;
}

// From then on each function has to answer MPI_ERR_REVOKED; the MPI beneath does.
int revoke(MPI_Comm handle) {
  const int error = call_beneath(beneath.Comm_revoke, handle);
  if (error == MPI_SUCCESS) Communicator::leave_beneath(handle);
  return error;
}

template <auto function, class... Arguments>
void enter(int (*&entry)(Arguments...)) {
  entry = make<function, Arguments...>;
}

}  // namespace

void add_communicators(Functions& ours) {
  enter<&Functions::Comm_dup>(ours.Comm_dup);
  enter<&Functions::Comm_dup_with_info>(ours.Comm_dup_with_info);
  enter<&Functions::Comm_create>(ours.Comm_create);
  enter<&Functions::Comm_create_group>(ours.Comm_create_group);
  enter<&Functions::Comm_create_from_group>(ours.Comm_create_from_group);
  enter<&Functions::Comm_split>(ours.Comm_split);
  enter<&Functions::Comm_split_type>(ours.Comm_split_type);
  enter<&Functions::Cart_create>(ours.Cart_create);
  enter<&Functions::Cart_sub>(ours.Cart_sub);
  enter<&Functions::Graph_create>(ours.Graph_create);
  enter<&Functions::Dist_graph_create>(ours.Dist_graph_create);
  enter<&Functions::Dist_graph_create_adjacent>(ours.Dist_graph_create_adjacent);
  enter<&Functions::Intercomm_merge>(ours.Intercomm_merge);
  ours.Comm_revoke = revoke;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
