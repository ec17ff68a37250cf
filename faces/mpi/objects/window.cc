// SPDX-License-Identifier: BSD-3-Clause
#include "objects/window.h"

#include <algorithm>
#include <climits>

#include "objects/errors.h"
#include "objects/handle_table.h"
#include "objects/job.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

HandleTable<Window> windows;

int copy_nothing(MPI_Win, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

// An error of any member becomes one of all. Returns the highest class.
int agree(Communicator& comm, int error) {
  int32_t own = error, all = error;
  nagaya_team* const team = comm.team();
  if (team == nullptr) return MPI_ERR_NO_MEM;
  nagaya_collective collective{};
  collective.kind = NAGAYA_ALLREDUCE;
  collective.send = {&own, sizeof own, sizeof own, nullptr, nullptr, nullptr, nullptr};
  collective.receive = {&all, sizeof all, sizeof all, nullptr, nullptr, nullptr, nullptr};
  collective.elements.count = 1;
  collective.elements.extent = collective.elements.true_extent = sizeof own;
  collective.elements.commutes = 1;
  collective.elements.reduce = [](void*, const void* in, void* inout, size_t) {
    auto* const highest = static_cast<int32_t*>(inout);
    *highest = std::max(*highest, *static_cast<const int32_t*>(in));
  };
  const int failure = class_of(::nagaya_coll_run(team, &collective));
  return failure != MPI_SUCCESS ? failure : all;
}

}  // namespace

int class_of_window_error(int error) {
  switch (error) {
    case 0:
      return MPI_SUCCESS;
    case -EINVAL:
      return MPI_ERR_ARG;
    case -ERANGE:
      return MPI_ERR_RMA_RANGE;
    case -EPROTO:
    case -EBUSY:
      return MPI_ERR_RMA_SYNC;
    case -EEXIST:
    case -ENOENT:
      return MPI_ERR_RMA_ATTACH;
    default:
      return class_of(error);
  }
}

Window* Window::find(MPI_Win handle) {
  return windows.find(key_of(handle));
}

Window::Window(Communicator& comm, int flavor, nagaya_window* accesses)
    : comm_(comm), accesses_(accesses), flavor_(flavor) {
  comm_.hold();
  beneath.Comm_group(comm.handle(), &group_);
  nagaya_window_part own{};
  ::nagaya_window_part_of(accesses, static_cast<uint32_t>(comm.rank()), &own);
  base_ = own.base;
  bytes_ = static_cast<MPI_Aint>(own.bytes);
  unit_ = static_cast<int>(std::min<size_t>(own.unit, INT_MAX));
}

Window::~Window() {
  ::nagaya_window_close(accesses_);
  beneath.Group_free(&group_);
  comm_.release();
}

int Window::make(Communicator& comm, int flavor, const nagaya_window_memory& own, MPI_Info info,
                 Window*& out) {
  nagaya_window* accesses = nullptr;
  nagaya_processes* const members = comm.open_processes();
  if (members == nullptr) return MPI_ERR_NO_MEM;
  const int error = ::nagaya_window_open(comm.take_window_context(), members, &own,
                                         Job::has_threads(), &accesses);
  ::nagaya_processes_close(members);
  if (error != 0) return class_of_window_error(error);
  auto* const window = new Window(comm, flavor, accesses);
  const int failure = agree(comm, window->make_carrier(info));
  if (failure == MPI_SUCCESS) {
    out = window;
    return MPI_SUCCESS;
  }
  MPI_Win carrier = window->handle_;
  if (carrier != MPI_WIN_NULL) beneath.Win_free(&carrier);
  delete window;
  return failure;
}

// Of all kinds of carriers only this one is over memory of ours, which Fortran reads as an
// attribute. (Open MPI 4.1 makes no dynamic window over MPI_COMM_SELF.)
int Window::make_carrier(MPI_Info info) {
  MPI_Win carrier = MPI_WIN_NULL;
  int error = beneath.Win_create(base_, bytes_, unit_, info, MPI_COMM_SELF, &carrier);
  if (error != MPI_SUCCESS) return MPI_ERR_OTHER;
  handle_ = carrier;
  // Set first, so deleted last, after the program's.
  static const int keyval = [] {
    int made_key = MPI_KEYVAL_INVALID;
    beneath.Win_create_keyval(copy_nothing, end_by_attribute, &made_key, nullptr);
    return made_key;
  }();
  error = beneath.Win_set_attr(carrier, keyval, this);
  if (error == MPI_SUCCESS) windows.insert(key_of(carrier), this);
  return error == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

// The carrier's handle may belong to a new window from here on.
int Window::end_by_attribute(MPI_Win handle, int, void*, void*) {
  windows.erase(key_of(handle));
  return MPI_SUCCESS;
}

// An epoch of no target can be opened unless another one is open.
bool Window::has_open_epoch() const {
  if (::nagaya_window_post(accesses_, nullptr, 0, 0) != 0) return true;
  ::nagaya_window_wait(accesses_);
  if (::nagaya_window_start(accesses_, nullptr, 0, 0) != 0) return true;
  ::nagaya_window_complete(accesses_);
  return false;
}

int Window::free(MPI_Win* handle) {
  if (has_open_epoch()) return MPI_ERR_RMA_SYNC;
  const int error = beneath.Win_free(handle);
  if (error == MPI_SUCCESS) delete this;
  return error;
}

bool Window::find_attribute(int keyval, void*& value) {
  if (keyval == MPI_WIN_BASE)
    value = base_;
  else if (keyval == MPI_WIN_SIZE)
    value = &bytes_;
  else if (keyval == MPI_WIN_DISP_UNIT)
    value = &unit_;
  else if (keyval == MPI_WIN_CREATE_FLAVOR)
    value = &flavor_;
  else if (keyval == MPI_WIN_MODEL)
    value = &model_;
  else
    return false;
  return true;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
