// SPDX-License-Identifier: BSD-3-Clause
#include "objects/window.h"

#include <algorithm>
#include <climits>
#include <mutex>
#include <new>

#include "objects/errors.h"
#include "objects/handle_table.h"
#include "objects/job.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

HandleTable<Window> windows;

// Returns a communicator of this process whose errors are returned. Kept until the end.
MPI_Comm make_carriers_communicator() {
  MPI_Comm self = MPI_COMM_SELF;
  if (beneath.Comm_split(MPI_COMM_SELF, 0, 0, &self) == MPI_SUCCESS)
    beneath.Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  return self;
}

// Returns whether the MPI beneath makes a window over memory that it has not allocated, of one
// process: Open MPI 4.1 does not.
bool may_create_on(MPI_Comm self) {
  MPI_Win window = MPI_WIN_NULL;
  if (beneath.Win_create(nullptr, 0, 1, MPI_INFO_NULL, self, &window) != MPI_SUCCESS) return false;
  beneath.Win_free(&window);
  return true;
}

// An error of any member becomes one of all. Returns the highest class.
int agree(Communicator& comm, int error) {
  int32_t own = error, all = error;
  if (!Job::has_messages()) {
    const int failure = beneath.Allreduce(&own, &all, 1, MPI_INT, MPI_MAX, comm.handle());
    return failure != MPI_SUCCESS ? failure : all;
  }
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

int class_of_window_failure(int error) {
  switch (error) {
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

Window::Window(Communicator& comm, int flavor, nagaya_window* accesses, uint64_t context)
    : comm_(comm), accesses_(accesses), context_(context), flavor_(flavor) {
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
  comm_.give_window_context_back(context_);
  beneath.Group_free(&group_);
  comm_.release();
}

int Window::make(Communicator& comm, int flavor, const nagaya_window_memory& own, MPI_Info info,
                 Window*& out) {
  nagaya_window* accesses = nullptr;
  nagaya_processes* const members = comm.open_processes();
  if (members == nullptr) return MPI_ERR_NO_MEM;
  const uint64_t context = comm.take_window_context();
  const int error =
      context == Communicator::kNoWindowContext
          ? -ENOSPC
          : ::nagaya_window_open(context, members, &own, Job::has_threads(), &accesses);
  ::nagaya_processes_close(members);
  if (error != 0) {
    comm.give_window_context_back(context);
    return class_of_window_error(error);
  }
  auto* const window = new Window(comm, flavor, accesses, context);
  const int failure = agree(comm, window->make_carrier(info));
  if (failure == MPI_SUCCESS) {
    out = window;
    return MPI_SUCCESS;
  }
  MPI_Win carrier = window->handle_;
  if (carrier != MPI_WIN_NULL) {
    beneath.Win_free(&carrier);
    windows.erase(key_of(window->handle_), window);
  }
  delete window;
  return failure;
}

// A carrier is over the window's memory if that is possible, so that Fortran reads the memory's
// attributes from it. MPICH has contexts for 2,048 windows and communicators together: more are an
// error.
int Window::make_carrier(MPI_Info info) {
  // Making a window is collective: two threads must not do so over one communicator at once.
  static std::mutex making;
  const std::lock_guard guard(making);
  static const MPI_Comm self = make_carriers_communicator();
  static const bool may_create = may_create_on(self);
  MPI_Win carrier = MPI_WIN_NULL;
  void* memory = nullptr;
  const int error = may_create ? beneath.Win_create(base_, bytes_, unit_, info, self, &carrier)
                               : beneath.Win_allocate(0, unit_, info, self, &memory, &carrier);
  if (error != MPI_SUCCESS) return MPI_ERR_OTHER;
  try {
    windows.insert(key_of(carrier), this);
  } catch (const std::bad_alloc&) {
    beneath.Win_free(&carrier);
    return MPI_ERR_NO_MEM;
  }
  handle_ = carrier;
  return MPI_SUCCESS;
}

int Window::free(MPI_Win* handle) {
  if (::nagaya_window_has_epoch(accesses_) != 0) return MPI_ERR_RMA_SYNC;
  const int error = beneath.Win_free(handle);
  if (error != MPI_SUCCESS) return error;
  windows.erase(key_of(handle_), this);
  delete this;
  return MPI_SUCCESS;
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
