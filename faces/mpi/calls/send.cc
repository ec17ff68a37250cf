// SPDX-License-Identifier: BSD-3-Clause
// send.cc - the sends. A short message needs no request beneath: match.h hands it over at once.
#include "calls/send.h"

#include <cstdlib>
#include <utility>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

nagaya_envelope envelope_of(const Communicator& comm, int tag) {
  return {comm.context(), comm.rank(), tag};
}


// Describes data of several runs to `send`: as runs, else packed into memory of ours. Returns an error class.
int describe_runs(const Data& data, const void* buffer, size_t count, nagaya_runs* runs, char*& packed,
                  nagaya_send& send) {
  if (data.type->describe(buffer, count, runs) != 0) {
    send.runs = runs;
    return MPI_SUCCESS;
  }
  packed = static_cast<char*>(std::malloc(data.bytes));
  if (packed == nullptr) return MPI_ERR_NO_MEM;
  data.type->pack(buffer, 0, data.bytes, packed);
  send.data = packed;
  return MPI_SUCCESS;
}

}  // namespace

int send_and_wait(Mode mode, const Communicator& comm, const void* buffer, size_t count, MPI_Datatype type,
                  int to, int tag) {
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  nagaya_send send{};
  send.to = comm.process_of(to);
  send.envelope = envelope_of(comm, tag);
  send.data = data.first;
  send.bytes = data.bytes;
  send.is_synchronous = mode == Mode::kSynchronous;
  nagaya_runs runs[kRunsMax];
  char* packed = nullptr;
  int error = data.type != nullptr ? describe_runs(data, buffer, count, runs, packed, send) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  int result = -EAGAIN;
  if (mode != Mode::kSynchronous)
    result = ::nagaya_match_try_send(send.to, &send.envelope, send.data, send.bytes, send.runs, nullptr);
  if (result == -EAGAIN) {
    result = ::nagaya_match_send(&send);
    if (result == 0) {
      await(&send.is_complete);
      result = send.error;
    }
  }
  std::free(packed);
  return class_of(result);
}

int make_send(Mode mode, Communicator& comm, const void* buffer, size_t count, MPI_Datatype type, int to,
              int tag, Request*& out) {
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  Request* const request =
      Requests::make(to == MPI_PROC_NULL ? RequestKind::kComplete : RequestKind::kSend, &comm);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  request->mode = static_cast<uint8_t>(mode);
  request->buffer = const_cast<void*>(buffer);
  request->count = count;
  request->peer = to;
  request->tag = tag;
  out = request;
  if (to == MPI_PROC_NULL) return MPI_SUCCESS;
  if (data.type != nullptr) {
    request->type = data.type;
    data.type->hold();
  }
  request->send.to = comm.process_of(to);
  request->send.envelope = envelope_of(comm, tag);
  request->send.data = data.first;
  request->send.bytes = data.bytes;
  request->send.is_synchronous = mode == Mode::kSynchronous;
  return MPI_SUCCESS;
}

int start_send(Request& request) {
  request.is_active = true;
  if (request.kind == RequestKind::kComplete) return MPI_SUCCESS;
  nagaya_send& send = request.send;
  send.is_complete = send.is_cancelled = 0;
  if (request.type != nullptr) {
    if (request.runs == nullptr)
      request.runs = static_cast<nagaya_runs*>(std::malloc(kRunsMax * sizeof *request.runs));
    if (request.runs == nullptr) return MPI_ERR_NO_MEM;
    std::free(std::exchange(request.packed, nullptr));
    char* packed = nullptr;
    const Data data{nullptr, send.bytes, request.type};
    if (const int error = describe_runs(data, request.buffer, request.count, request.runs, packed, send))
      return error;
    request.packed = packed;
  }
  if (!send.is_synchronous) {
    const int result =
        ::nagaya_match_try_send(send.to, &send.envelope, send.data, send.bytes, send.runs, &send.serial);
    if (result != -EAGAIN) {
      send.is_complete = 1;
      send.error = result;
      return class_of(result);
    }
  }
  return class_of(::nagaya_match_send(&send));
}

namespace {

template <Mode mode, class Count>
int send(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm handle) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) {
    if constexpr (mode == Mode::kSynchronous)
      return call_beneath(of_count<Count>(beneath.Ssend, beneath.Ssend_c), buffer, count, type, to, tag, handle);
    return call_beneath(of_count<Count>(beneath.Send, beneath.Send_c), buffer, count, type, to, tag, handle);
  }
  int error = check_send(*comm, count, to, tag);
  if (error == MPI_SUCCESS && to != MPI_PROC_NULL)
    error = send_and_wait(mode, *comm, buffer, static_cast<size_t>(count), type, to, tag);
  return raise(comm, error);
}

template <Mode mode, class Count>
int isend(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm handle,
          MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) {
    if constexpr (mode == Mode::kSynchronous)
      return of_count<Count>(beneath.Issend, beneath.Issend_c)(buffer, count, type, to, tag, handle, out);
    return of_count<Count>(beneath.Isend, beneath.Isend_c)(buffer, count, type, to, tag, handle, out);
  }
  Request* request = nullptr;
  int error = check_send(*comm, count, to, tag);
  if (error == MPI_SUCCESS)
    error = make_send(mode, *comm, buffer, static_cast<size_t>(count), type, to, tag, request);
  if (error == MPI_SUCCESS) error = start_send(*request);
  if (error == MPI_SUCCESS) {
    *out = Requests::handle_of(request);
    return MPI_SUCCESS;
  }
  if (request != nullptr) Requests::free(request);
  return raise(comm, error);
}

}  // namespace

void add_sends(Functions& ours) {
  ours.Send = send<Mode::kStandard, int>;
  ours.Send_c = send<Mode::kStandard, MPI_Count>;
  ours.Rsend = send<Mode::kStandard, int>;
  ours.Rsend_c = send<Mode::kStandard, MPI_Count>;
  ours.Ssend = send<Mode::kSynchronous, int>;
  ours.Ssend_c = send<Mode::kSynchronous, MPI_Count>;
  ours.Isend = isend<Mode::kStandard, int>;
  ours.Isend_c = isend<Mode::kStandard, MPI_Count>;
  ours.Irsend = isend<Mode::kStandard, int>;
  ours.Irsend_c = isend<Mode::kStandard, MPI_Count>;
  ours.Issend = isend<Mode::kSynchronous, int>;
  ours.Issend_c = isend<Mode::kSynchronous, MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
