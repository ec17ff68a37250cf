// SPDX-License-Identifier: BSD-3-Clause
#include "objects/report.h"

#include <vector>

#include "beneath/foreign_call.h"
#include "calls/counted.h"
#include "objects/communicator.h"
#include "objects/job.h"
#include "verbose.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

constexpr size_t kNameMaxBytes = 256;  // at least MPI_MAX_OBJECT_NAME

std::string name_of(MPI_Comm handle) {
  char name[kNameMaxBytes] = {};
  int bytes = 0;
  beneath.Comm_get_name(handle, name, &bytes);
  return name[0] != '\0' ? name : "a communicator";
}

std::string with_size(const std::string& name, int size) {
  return name + " of " + std::to_string(size) + (size == 1 ? " process" : " processes");
}

void tell_of_last_call(const std::string& place, int rank) {
  const char* const call = last_call();
  if (call == nullptr) return;
  tell(std::string(call) + " on " + place + " has failed at rank " + std::to_string(rank) +
       "; the MPI gives the reason, and names its function for error handlers in place of " + call);
}

}  // namespace

void tell_of_communicator(MPI_Comm handle, const std::string& obstacle) {
  if (!is_verbose() || handle == MPI_COMM_SELF) return;
  int rank = 0, size = 0;
  beneath.Comm_rank(handle, &rank);
  beneath.Comm_size(handle, &size);
  if (rank != 0) return;
  const std::string share = Job::has_messages() ? "" : "windows ";
  tell(with_size(name_of(handle), size) + ": " +
       (obstacle.empty() ? share + "in the space" : share + "by the MPI: " + obstacle));
}

// A handler of the program's that the MPI has returned keeps a reference, which is never given
// back.
void tell_of_failure(MPI_Comm handle) {
  MPI_Errhandler handler{};
  int rank = 0, size = 0;
  if (beneath.Comm_get_errhandler(handle, &handler) != MPI_SUCCESS ||
      handler != MPI_ERRORS_ARE_FATAL)
    return;
  beneath.Comm_rank(handle, &rank);
  beneath.Comm_size(handle, &size);
  tell_of_last_call(with_size(name_of(handle), size), rank);
}

void tell_of_failure(MPI_Win handle, const Communicator& comm) {
  MPI_Errhandler handler{};
  if (beneath.Win_get_errhandler(handle, &handler) == MPI_SUCCESS &&
      handler == MPI_ERRORS_ARE_FATAL)
    tell_of_last_call(with_size("a window", comm.size()), comm.rank());
}

void tell_of_calls() {
  const Communicator* const world = is_verbose() ? Communicator::find(MPI_COMM_WORLD) : nullptr;
  if (world == nullptr) return;
  const CallCounts own = counted_calls();
  std::vector<CallCounts> all(static_cast<size_t>(world->size()));
  if (call_beneath(beneath.Gather, &own, static_cast<int>(sizeof own), MPI_BYTE, all.data(),
                   static_cast<int>(sizeof own), MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
      world->rank() != 0)
    return;
  CallCounts sum;
  for (const CallCounts& one : all) {
    sum.point_to_point += one.point_to_point;
    sum.collective += one.collective;
    sum.one_sided += one.one_sided;
  }
  std::string calls = std::to_string(sum.one_sided) + " accesses to windows";
  if (!Job::has_messages())
    calls = "messages and collectives went by the components, " + calls;
  else
    calls = std::to_string(sum.point_to_point) + " calls of point-to-point functions, " +
            std::to_string(sum.collective) + " of collectives and " + calls;
  tell(calls + " went through the space");
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
