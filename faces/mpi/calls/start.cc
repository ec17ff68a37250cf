// SPDX-License-Identifier: BSD-3-Clause
// start.cc - MPI_Start and MPI_Startall.
#include "calls/start.h"

#include <algorithm>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/receive.h"
#include "calls/send.h"
#include "objects/errors.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

int start_request(Request& request) {
  switch (request.kind) {
    case RequestKind::kComplete:
      request.is_active = true;
      return MPI_SUCCESS;
    case RequestKind::kSend:
      return start_send(request);
    case RequestKind::kReceive:
      return start_receive(request);
    case RequestKind::kCollective:
    case RequestKind::kOther: {
      const int error = request.part->start();
      request.is_active = error == MPI_SUCCESS;
      return error;
    }
    default:
      return MPI_ERR_REQUEST;
  }
}

int hand_out(Communicator& comm, Request* request, int error, MPI_Request* out) {
  if (error == MPI_SUCCESS) [[likely]] {
    *out = Requests::handle_of(request);
    return MPI_SUCCESS;
  }
  if (request != nullptr) Requests::free(request);
  return raise(&comm, error);
}

namespace {

int start(MPI_Request* handle) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return call_beneath(beneath.Start, handle);
  const bool is_startable = request->is_persistent && !request->is_active;
  return raise(request->communicator, is_startable ? start_request(*request) : MPI_ERR_REQUEST);
}

int startall(int count, MPI_Request* handles) {
  const auto is_ours = [](MPI_Request handle) { return Requests::find(handle) != nullptr; };
  if (count <= 0 || std::none_of(handles, handles + count, is_ours))
    return call_beneath(beneath.Startall, count, handles);
  for (int n = 0; n < count; ++n)
    if (const int error = start(&handles[n])) return error;
  return MPI_SUCCESS;
}

}  // namespace

void add_starts(Functions& ours) {
  ours.Start = start;
  ours.Startall = startall;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
