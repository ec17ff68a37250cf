// SPDX-License-Identifier: BSD-3-Clause
// window_synchronisation.cc - epochs of windows: fence, post and start, locks; flush and sync.
#include <numeric>
#include <vector>

#include "calls/calls.h"
#include "calls/window_call.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

constexpr int kAssertions =
    MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

// Translates the assertions that nagaya/window.h knows; the others save it no work.
uint32_t assertions_of(int assertions) {
  const auto mark = [assertions](int of_mpi, uint32_t ours) {
    return (assertions & of_mpi) != 0 ? ours : 0;
  };
  return mark(MPI_MODE_NOPRECEDE, NAGAYA_WINDOW_NO_PRECEDE) |
         mark(MPI_MODE_NOSUCCEED, NAGAYA_WINDOW_NO_SUCCEED) |
         mark(MPI_MODE_NOCHECK, NAGAYA_WINDOW_NO_CHECK);
}

int check(int assertions) {
  return (assertions & ~kAssertions) == 0 ? MPI_SUCCESS : MPI_ERR_ASSERT;
}

int fence(Window& window, int assertions) {
  if (const int error = check(assertions)) return error;
  constexpr uint32_t kOfFence = NAGAYA_WINDOW_NO_PRECEDE | NAGAYA_WINDOW_NO_SUCCEED;
  return class_of_window_error(
      ::nagaya_window_fence(window.accesses(), assertions_of(assertions) & kOfFence));
}

// ---- of groups

using OpenForRanks = int(nagaya_window*, const uint32_t*, uint32_t, uint32_t);

template <OpenForRanks* open>
int open_for_group(Window& window, MPI_Group group, int assertions) {
  int size = 0;
  if (const int error = check(assertions)) return error;
  if (beneath.Group_size(group, &size) != MPI_SUCCESS) return MPI_ERR_GROUP;
  std::vector<int> numbers(static_cast<size_t>(size)), ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  beneath.Group_translate_ranks(group, size, numbers.data(), window.group(), ranks.data());
  for (const int rank : ranks)
    if (!window.communicator().has(rank)) return MPI_ERR_GROUP;
  const std::vector<uint32_t> list(ranks.begin(), ranks.end());
  return class_of_window_error(open(window.accesses(), list.data(), static_cast<uint32_t>(size),
                                    assertions_of(assertions) & NAGAYA_WINDOW_NO_CHECK));
}

int test(Window& window, int* flag) {
  const int result = ::nagaya_window_test(window.accesses());
  if (result < 0) return class_of_window_error(result);
  *flag = result;
  if (result == 0) ::nagaya_match_progress();
  return MPI_SUCCESS;
}

// ---- of locks

int check_target(const Window& window, int rank) {
  return rank == MPI_PROC_NULL || window.communicator().has(rank) ? MPI_SUCCESS : MPI_ERR_RANK;
}

int lock(Window& window, int kind, int rank, int assertions) {
  if (kind != MPI_LOCK_EXCLUSIVE && kind != MPI_LOCK_SHARED) return MPI_ERR_LOCKTYPE;
  int error = check_target(window, rank);
  if (error == MPI_SUCCESS) error = check(assertions);
  if (error != MPI_SUCCESS || rank == MPI_PROC_NULL) return error;
  return class_of_window_error(::nagaya_window_lock(
      window.accesses(), kind == MPI_LOCK_SHARED ? NAGAYA_WINDOW_SHARED : NAGAYA_WINDOW_EXCLUSIVE,
      static_cast<uint32_t>(rank), assertions_of(assertions) & NAGAYA_WINDOW_NO_CHECK));
}

template <int (*act)(nagaya_window*, uint32_t)>
int with_target(Window& window, int rank) {
  const int error = check_target(window, rank);
  if (error != MPI_SUCCESS || rank == MPI_PROC_NULL) return error;
  return class_of_window_error(act(window.accesses(), static_cast<uint32_t>(rank)));
}

int lock_all(Window& window, int assertions) {
  if (const int error = check(assertions)) return error;
  return class_of_window_error(::nagaya_window_lock_all(
      window.accesses(), assertions_of(assertions) & NAGAYA_WINDOW_NO_CHECK));
}

template <int (*act)(nagaya_window*)>
int with_all(Window& window) {
  return class_of_window_error(act(window.accesses()));
}

}  // namespace

void add_window_synchronisation(Functions& ours) {
  enter<fence, &Functions::Win_fence>(ours);
  enter<open_for_group<::nagaya_window_post>, &Functions::Win_post>(ours);
  enter<open_for_group<::nagaya_window_start>, &Functions::Win_start>(ours);
  enter<with_all<::nagaya_window_complete>, &Functions::Win_complete>(ours);
  enter<with_all<::nagaya_window_wait>, &Functions::Win_wait>(ours);
  enter_with_window<test, &Functions::Win_test>(ours);
  enter<lock, &Functions::Win_lock>(ours);
  enter<lock_all, &Functions::Win_lock_all>(ours);
  enter<with_target<::nagaya_window_unlock>, &Functions::Win_unlock>(ours);
  enter<with_all<::nagaya_window_unlock_all>, &Functions::Win_unlock_all>(ours);
  enter<with_target<::nagaya_window_flush>, &Functions::Win_flush, &Functions::Win_flush_local>(
      ours);
  enter<with_all<::nagaya_window_flush_all>, &Functions::Win_flush_all,
        &Functions::Win_flush_local_all>(ours);
  enter<with_all<::nagaya_window_sync>, &Functions::Win_sync>(ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
