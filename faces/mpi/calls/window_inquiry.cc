// SPDX-License-Identifier: BSD-3-Clause
// window_inquiry.cc - a window's memory, group and predefined attributes.
#include "calls/calls.h"
#include "calls/window_call.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// MPI_PROC_NULL is the lowest rank that has memory.
int rank_with_memory(const Window& window) {
  nagaya_window_part part{};
  int rank = 0;
  for (; rank < window.communicator().size(); ++rank) {
    ::nagaya_window_part_of(window.accesses(), static_cast<uint32_t>(rank), &part);
    if (part.bytes != 0 && part.base != nullptr) return rank;  // nullptr: on another node
  }
  return 0;
}

// Tells of every kind of window but dynamic ones, as MPI 4.1 allows.
template <class Unit>
int shared_query(Window& window, int rank, MPI_Aint* bytes, Unit* unit, void* base) {
  if (window.is_dynamic()) return MPI_ERR_RMA_FLAVOR;
  if (rank != MPI_PROC_NULL && !window.communicator().has(rank)) return MPI_ERR_RANK;
  if (rank == MPI_PROC_NULL) rank = rank_with_memory(window);
  nagaya_window_part part{};
  const int error = ::nagaya_window_part_of(window.accesses(), static_cast<uint32_t>(rank), &part);
  if (error != 0) return class_of_window_error(error);
  *bytes = static_cast<MPI_Aint>(part.bytes);
  *unit = static_cast<Unit>(part.unit);
  *static_cast<void**>(base) = part.bytes != 0 ? part.base : nullptr;  // as MPICH does
  return MPI_SUCCESS;
}

// The program frees the group.
int get_group(Window& window, MPI_Group* group) {
  return beneath.Group_excl(window.group(), 0, nullptr, group);
}

// An error beneath calls the carrier's error handler, which is the window's.
int get_attr(MPI_Win handle, int keyval, void* value, int* flag) {
  Window* const window = Window::find(handle);
  void* known = nullptr;
  if (window == nullptr || !window->find_attribute(keyval, known))
    return call_beneath(beneath.Win_get_attr, handle, keyval, value, flag);
  *static_cast<void**>(value) = known;
  *flag = 1;
  return MPI_SUCCESS;
}

}  // namespace

void add_window_inquiry(Functions& ours) {
  enter_with_window<shared_query<int>, &Functions::Win_shared_query>(ours);
  enter_with_window<shared_query<MPI_Aint>, &Functions::Win_shared_query_c>(ours);
  enter_with_window<get_group, &Functions::Win_get_group>(ours);
  ours.Win_get_attr = get_attr;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
