// SPDX-License-Identifier: BSD-3-Clause
// receive.cc - the receives.
#include "calls/receive.h"

#include <algorithm>
#include <cstdlib>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

nagaya_envelope wanted_by(const Communicator& comm, int from, int tag) {
  return {comm.context(), from == MPI_ANY_SOURCE ? NAGAYA_ANY_SOURCE : from,
          tag == MPI_ANY_TAG ? NAGAYA_ANY_TAG : tag};
}

namespace {

nagaya_process likely_sender(const Communicator& comm, int from) {
  return from == MPI_ANY_SOURCE ? nagaya_process{UINT32_MAX, UINT32_MAX} : comm.process_of(from);
}

// Stores the next bytes of a message whose buffer has more runs than can be described.
void scatter(nagaya_receive* receive, const void* data, size_t bytes) {
  auto& request = *reinterpret_cast<Request*>(reinterpret_cast<char*>(receive) - offsetof(Request, receive));
  request.type->unpack(request.buffer, request.unpacked, bytes, data);
  request.unpacked += bytes;
}

int receive_by_request(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from, int tag,
                       MPI_Status* status) {
  Request* request = nullptr;
  int error = make_receive(comm, buffer, count, type, from, tag, request);
  if (error == MPI_SUCCESS) error = start_receive(*request);
  if (error == MPI_SUCCESS) {
    await(&request->receive.is_complete);
    const nagaya_receive& done = request->receive;
    error = class_of(done.error);
    if (status != MPI_STATUS_IGNORE)
      set_status(*status, done.matched.source, done.matched.tag, std::min(done.bytes, done.capacity), false);
  }
  if (request != nullptr) Requests::free(request);
  return error;
}

}  // namespace

int receive_and_wait(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from, int tag,
                     MPI_Status* status) {
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  if (data.type != nullptr) return receive_by_request(comm, buffer, count, type, from, tag, status);
  nagaya_receive receive{};
  receive.wanted = wanted_by(comm, from, tag);
  receive.from = likely_sender(comm, from);
  receive.buffer = data.first;
  receive.capacity = data.bytes;
  int error = class_of(::nagaya_match_receive(&receive));
  if (error != MPI_SUCCESS) return error;
  error = wait_until([&receive] { return __atomic_load_n(&receive.is_complete, __ATOMIC_ACQUIRE) != 0; });
  if (error != MPI_SUCCESS) {
    if (::nagaya_match_cancel_receive(&receive) == 0) return error;
    await(&receive.is_complete);  // its data are on their way
  }
  if (status != MPI_STATUS_IGNORE)
    set_status(*status, receive.matched.source, receive.matched.tag, std::min(receive.bytes, receive.capacity),
               false);
  return class_of(receive.error);
}

int make_receive(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from, int tag,
                 Request*& out) {
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  Request* const request =
      Requests::make(from == MPI_PROC_NULL ? RequestKind::kComplete : RequestKind::kReceive, &comm);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  out = request;
  request->buffer = buffer;
  request->count = count;
  request->peer = from;
  request->tag = tag;
  if (from == MPI_PROC_NULL) return MPI_SUCCESS;
  nagaya_receive& receive = request->receive;
  receive.from = likely_sender(comm, from);
  receive.buffer = data.first;
  receive.capacity = data.bytes;
  if (data.type == nullptr) return MPI_SUCCESS;
  request->type = data.type;
  data.type->hold();
  request->runs = static_cast<nagaya_runs*>(std::malloc(kRunsMax * sizeof(nagaya_runs)));
  if (request->runs != nullptr && data.type->describe(buffer, count, request->runs) != 0)
    receive.runs = request->runs;
  else
    receive.scatter = scatter;
  return MPI_SUCCESS;
}

int start_receive(Request& request) {
  request.is_active = true;
  if (request.kind == RequestKind::kComplete) return MPI_SUCCESS;
  request.receive.wanted = wanted_by(*request.communicator, request.peer, request.tag);
  request.receive.is_complete = 0;
  request.receive.error = 0;
  request.unpacked = 0;
  return class_of(::nagaya_match_receive(&request.receive));
}

namespace {

template <class Count>
int recv(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm handle, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Recv, beneath.Recv_c), buffer, count, type, from, tag, handle,
                        status);
  int error = check_receive(*comm, count, from, tag);
  if (error == MPI_SUCCESS && from != MPI_PROC_NULL)
    error = receive_and_wait(*comm, buffer, static_cast<size_t>(count), type, from, tag, status);
  else if (error == MPI_SUCCESS && status != MPI_STATUS_IGNORE)
    set_status_of_nobody(*status);
  return raise(comm, error);
}

template <class Count>
int irecv(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm handle, MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return of_count<Count>(beneath.Irecv, beneath.Irecv_c)(buffer, count, type, from, tag, handle, out);
  Request* request = nullptr;
  int error = check_receive(*comm, count, from, tag);
  if (error == MPI_SUCCESS)
    error = make_receive(*comm, buffer, static_cast<size_t>(count), type, from, tag, request);
  if (error == MPI_SUCCESS) error = start_receive(*request);
  if (error == MPI_SUCCESS) {
    *out = Requests::handle_of(request);
    return MPI_SUCCESS;
  }
  if (request != nullptr) Requests::free(request);
  return raise(comm, error);
}

}  // namespace

void add_receives(Functions& ours) {
  ours.Recv = recv<int>;
  ours.Recv_c = recv<MPI_Count>;
  ours.Irecv = irecv<int>;
  ours.Irecv_c = irecv<MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
