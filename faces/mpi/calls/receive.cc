// SPDX-License-Identifier: BSD-3-Clause
// receive.cc - the receives.
#include "calls/receive.h"

#include <cstdlib>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "calls/completion.h"
#include "calls/start.h"
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
  auto& request =
      *reinterpret_cast<Request*>(reinterpret_cast<char*>(receive) - offsetof(Request, receive));
  request.type->unpack(request.buffer, request.unpacked, bytes, data);
  request.unpacked += bytes;
}

int receive_by_request(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from,
                       int tag, MPI_Status* status) {
  Request* request = nullptr;
  int error = make_receive(comm, buffer, count, type, from, tag, request);
  if (error == MPI_SUCCESS) error = start_receive(*request);
  if (error == MPI_SUCCESS) return finish_receive(request, status);
  if (request != nullptr) Requests::free(request);
  return error;
}

}  // namespace

int wait_for_receive(nagaya_receive& receive) {
  const int error = wait_until(
      [&receive] { return __atomic_load_n(&receive.is_complete, __ATOMIC_ACQUIRE) != 0; });
  if (error != MPI_SUCCESS) {
    if (::nagaya_match_cancel_receive(&receive) == 0) return error;
    await(&receive.is_complete);  // its data are on their way
  }
  return class_of(receive.error);
}

int finish_receive(Request* request, MPI_Status* status) {
  int error = MPI_SUCCESS;
  if (request->kind == RequestKind::kReceive) error = wait_for_receive(request->receive);
  const int error_of_message = store_status(*request, status);
  Requests::free(request);
  return error != MPI_SUCCESS ? error : error_of_message;
}

int receive_and_wait(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from,
                     int tag, MPI_Status* status) {
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
  error = wait_for_receive(receive);
  if (status != MPI_STATUS_IGNORE) set_status_of(receive, *status);
  return error;
}

int make_receive(Communicator& comm, void* buffer, size_t count, MPI_Datatype type, int from,
                 int tag, Request*& out) {
  Data data;
  if (from != MPI_PROC_NULL)
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

int start_receive(Request& request, nagaya_message* taken) {
  int error = 0;
  if (request.kind == RequestKind::kReceive) {
    nagaya_receive& receive = request.receive;
    receive.wanted = wanted_by(*request.communicator, request.peer, request.tag);
    receive.is_complete = 0;
    receive.error = 0;
    request.is_cancelled = false;
    request.unpacked = 0;
    error = taken == nullptr ? ::nagaya_match_receive(&receive)
                             : ::nagaya_match_receive_taken(taken, &receive);
  }
  request.is_active = error == 0;
  return class_of(error);
}

namespace {

template <class Count>
int recv(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
         MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Recv, beneath.Recv_c), buffer, count, type, from,
                        tag, handle, status);
  int error = check_receive(*comm, count, from, tag);
  if (error == MPI_SUCCESS && from != MPI_PROC_NULL)
    error = receive_and_wait(*comm, buffer, static_cast<size_t>(count), type, from, tag, status);
  else if (error == MPI_SUCCESS && status != MPI_STATUS_IGNORE)
    set_status_of_nobody(*status);
  return raise(comm, error);
}

template <class Count>
int irecv(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
          MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Irecv, beneath.Irecv_c), buffer, count, type, from,
                        tag, handle, out);
  Request* request = nullptr;
  int error = check_receive(*comm, count, from, tag);
  if (error == MPI_SUCCESS)
    error = make_receive(*comm, buffer, static_cast<size_t>(count), type, from, tag, request);
  if (error == MPI_SUCCESS) error = start_receive(*request);
  return hand_out(*comm, request, error, out);
}

template <class Count>
int recv_init(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
              MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Recv_init, beneath.Recv_init_c), buffer, count,
                        type, from, tag, handle, out);
  Request* request = nullptr;
  int error = check_receive(*comm, count, from, tag);
  if (error == MPI_SUCCESS)
    error = make_receive(*comm, buffer, static_cast<size_t>(count), type, from, tag, request);
  if (error == MPI_SUCCESS) request->is_persistent = true;
  return hand_out(*comm, request, error, out);
}

}  // namespace

void add_receives(Functions& ours) {
  ours.Recv = recv<int>;
  ours.Recv_c = recv<MPI_Count>;
  ours.Irecv = irecv<int>;
  ours.Irecv_c = irecv<MPI_Count>;
  ours.Recv_init = recv_init<int>;
  ours.Recv_init_c = recv_init<MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
