// SPDX-License-Identifier: BSD-3-Clause
#include "objects/job.h"

#include <errno.h>
#include <nagaya/match.h>
#include <nagaya/task.h>

#include "beneath/foreign_call.h"
#include "beneath/progress.h"
#include "objects/communicator.h"
#include "objects/report.h"
#include "objects/requests.h"
#include "objects/send_buffer.h"
#include "objects/world.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// An attribute of MPI_COMM_SELF that is set first is deleted last in MPI_Finalize: the program's
// own may still communicate when they are deleted.
void Job::open(int level) {
  load_constants(beneath);
  if (::nagaya_task_self() < 0) return;
  has_threads_ = level == MPI_THREAD_MULTIPLE;
  if (has_messages() ? !open_messages() : !is_beside_components()) return;
  is_open_ = true;
  int keyval = MPI_KEYVAL_INVALID;
  beneath.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_by_attribute, &keyval, nullptr);
  beneath.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  Communicator::adopt_world();
  Communicator::adopt(MPI_COMM_SELF);
}

// A user may have chosen another pml than ours.
bool Job::is_beside_components() {
  if (::nagaya_match_self().task != UINT32_MAX) return true;
  World::stay_away();
  tell_of_communicator(MPI_COMM_WORLD, "pml/nagaya is not selected");
  return false;
}

bool Job::open_messages() {
  if (const int error = ::nagaya_match_open(has_threads_); error != 0) {
    World::stay_away();
    tell_of_communicator(MPI_COMM_WORLD, error == -EBUSY
                                             ? "another library has opened nagaya/match.h"
                                             : ::nagaya_strerror(error));
    return false;
  }
  ForeignCalls::open(has_threads_, ProgressBeneath::begin);
  return true;
}

int Job::end_by_attribute(MPI_Comm, int, void*, void*) {
  const Callback callback;
  close();
  return MPI_SUCCESS;
}

void Job::close() {
  if (!has_messages()) {
    tell_of_calls();
    is_open_ = false;
    return;
  }
  SendBuffer::flush();
  Requests::drain();
  tell_of_calls();
  is_open_ = false;
  ProgressBeneath::end();
  ForeignCalls::close();
  ::nagaya_match_close();
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
