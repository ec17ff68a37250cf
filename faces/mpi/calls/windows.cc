// SPDX-License-Identifier: BSD-3-Clause
// windows.cc - windows are the MPI's beneath. While one exists, others may access the memory of
// this process by messages there, so waits of ours move it.
#include "beneath/foreign_call.h"
#include "beneath/progress.h"
#include "calls/calls.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

template <auto function, class... Arguments>
int make(Arguments... arguments) {
  const int error = call_beneath(beneath.*function, arguments...);
  if (error == MPI_SUCCESS) ProgressBeneath::add_pending();
  return error;
}

template <auto function, class... Arguments>
void enter(int (*&entry)(Arguments...)) {
  entry = make<function, Arguments...>;
}

int free_window(MPI_Win* window) {
  const int error = call_beneath(beneath.Win_free, window);
  if (error == MPI_SUCCESS) ProgressBeneath::remove_pending();
  return error;
}

}  // namespace

void add_windows(Functions& ours) {
  enter<&Functions::Win_create>(ours.Win_create);
  enter<&Functions::Win_create_c>(ours.Win_create_c);
  enter<&Functions::Win_allocate>(ours.Win_allocate);
  enter<&Functions::Win_allocate_c>(ours.Win_allocate_c);
  enter<&Functions::Win_allocate_shared>(ours.Win_allocate_shared);
  enter<&Functions::Win_allocate_shared_c>(ours.Win_allocate_shared_c);
  enter<&Functions::Win_create_dynamic>(ours.Win_create_dynamic);
  ours.Win_free = free_window;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
