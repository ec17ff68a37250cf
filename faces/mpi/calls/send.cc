// SPDX-License-Identifier: BSD-3-Clause
// send.cc - the sends. A short message needs no request beneath: match.h hands it over at once.
#include "calls/send.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "calls/modes.h"
#include "calls/start.h"
#include "objects/send_buffer.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

nagaya_envelope envelope_of(const Communicator& comm, int tag) {
  return {comm.context(), comm.rank(), tag};
}

// Packs the data of several runs into memory of its own. nullptr: no memory.
char* pack(const Type& type, const void* buffer, size_t bytes) {
  char* const packed = static_cast<char*>(std::malloc(bytes));
  if (packed != nullptr) type.pack(buffer, 0, bytes, packed);
  return packed;
}

// Describes data of several runs to `send`: as runs, else packed. Returns an error class.
int describe_runs(const Type& type, const void* buffer, size_t count, nagaya_runs* runs,
                  void*& packed, nagaya_send& send) {
  if (runs != nullptr && type.describe(buffer, count, runs) != 0) {
    send.runs = runs;
    return MPI_SUCCESS;
  }
  send.data = packed = pack(type, buffer, send.bytes);
  return packed != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

// A buffered send needs a request: its copy may outlast the call.
int send_by_request(Mode mode, Communicator& comm, const void* buffer, size_t count,
                    MPI_Datatype type, int to, int tag) {
  Request* request = nullptr;
  int error = make_send(mode, comm, buffer, count, type, to, tag, request);
  if (error == MPI_SUCCESS) error = start_send(*request);
  if (request != nullptr) Requests::free(request);
  return error;
}

}  // namespace

int try_to_send(nagaya_send& send) {
  return ::nagaya_match_try_send(send.to, &send.envelope, send.data, send.bytes, send.runs,
                                 &send.serial);
}

int send_and_wait(Mode mode, Communicator& comm, const void* buffer, size_t count,
                  MPI_Datatype type, int to, int tag) {
  if (mode == Mode::kBuffered) return send_by_request(mode, comm, buffer, count, type, to, tag);
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  nagaya_send send{};
  send.to = comm.process_of(to);
  send.envelope = envelope_of(comm, tag);
  send.data = data.first;
  send.bytes = data.bytes;
  send.is_synchronous = mode == Mode::kSynchronous;
  nagaya_runs runs[kRunsMax];
  void* packed = nullptr;
  if (data.type != nullptr)
    if (const int error = describe_runs(*data.type, buffer, count, runs, packed, send))
      return error;
  int result = mode != Mode::kSynchronous ? try_to_send(send) : -EAGAIN;
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

int make_send(Mode mode, Communicator& comm, const void* buffer, size_t count, MPI_Datatype type,
              int to, int tag, Request*& out) {
  Data data;
  if (to != MPI_PROC_NULL)
    if (const int error = describe(buffer, count, type, data)) return error;
  Request* const request =
      Requests::make(to == MPI_PROC_NULL ? RequestKind::kComplete : RequestKind::kSend, &comm);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  request->mode = mode;
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

namespace {

// Describes the data that the buffer of a send of several runs has now. Returns an error class.
int describe_again(Request& request) {
  if (request.runs == nullptr)
    request.runs = static_cast<nagaya_runs*>(std::malloc(kRunsMax * sizeof *request.runs));
  std::free(std::exchange(request.packed, nullptr));
  request.send.runs = nullptr;
  return describe_runs(*request.type, request.buffer, request.count, request.runs, request.packed,
                       request.send);
}

int start_described(Request& request) {
  nagaya_send& send = request.send;
  if (request.mode == Mode::kBuffered) return start_buffered(request);
  if (request.mode != Mode::kSynchronous) {
    const int result = try_to_send(send);
    if (result != -EAGAIN) {
      send.is_complete = 1;
      return class_of(result);
    }
  }
  return class_of(::nagaya_match_send(&send));
}

}  // namespace

int start_send(Request& request) {
  int error = MPI_SUCCESS;
  if (request.kind == RequestKind::kSend) {
    request.send.is_complete = request.send.is_cancelled = 0;
    request.send.error = 0;
    if (request.type != nullptr) error = describe_again(request);
    if (error == MPI_SUCCESS) error = start_described(request);
  }
  request.is_active = error == MPI_SUCCESS;
  return error;
}

int copy_data(const void* buffer, size_t count, MPI_Datatype type, void*& copy, size_t& bytes) {
  Data data;
  if (const int error = describe(buffer, count, type, data)) return error;
  bytes = data.bytes;
  copy = data.type != nullptr ? pack(*data.type, buffer, bytes) : std::malloc(bytes);
  if (copy == nullptr && bytes != 0) return MPI_ERR_NO_MEM;
  if (data.type == nullptr && bytes != 0) std::memcpy(copy, data.first, bytes);
  return MPI_SUCCESS;
}

namespace {

// The MPI beneath sends on a communicator that is not ours.
template <Mode mode>
void prepare_beneath() {
  if constexpr (mode == Mode::kBuffered) SendBuffer::provide_beneath();
}

template <Mode mode, class Count>
int send(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm handle) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) {
    prepare_beneath<mode>();
    return call_beneath(of_count<Count>(beneath.*Names<mode>::send, beneath.*Names<mode>::send_c),
                        buffer, count, type, to, tag, handle);
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
    prepare_beneath<mode>();
    return call_beneath(of_count<Count>(beneath.*Names<mode>::isend, beneath.*Names<mode>::isend_c),
                        buffer, count, type, to, tag, handle, out);
  }
  Request* request = nullptr;
  int error = check_send(*comm, count, to, tag);
  if (error == MPI_SUCCESS)
    error = make_send(mode, *comm, buffer, static_cast<size_t>(count), type, to, tag, request);
  if (error == MPI_SUCCESS) error = start_send(*request);
  return hand_out(*comm, request, error, out);
}

template <Mode mode, class Count>
int send_init(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm handle,
              MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) {
    prepare_beneath<mode>();
    return call_beneath(of_count<Count>(beneath.*Names<mode>::init, beneath.*Names<mode>::init_c),
                        buffer, count, type, to, tag, handle, out);
  }
  Request* request = nullptr;
  int error = check_send(*comm, count, to, tag);
  if (error == MPI_SUCCESS)
    error = make_send(mode, *comm, buffer, static_cast<size_t>(count), type, to, tag, request);
  if (error == MPI_SUCCESS) request->is_persistent = true;
  return hand_out(*comm, request, error, out);
}

template <Mode mode>
void add_sends_of(Functions& ours) {
  ours.*Names<mode>::send = send<mode, int>;
  ours.*Names<mode>::send_c = send<mode, MPI_Count>;
  ours.*Names<mode>::isend = isend<mode, int>;
  ours.*Names<mode>::isend_c = isend<mode, MPI_Count>;
  ours.*Names<mode>::init = send_init<mode, int>;
  ours.*Names<mode>::init_c = send_init<mode, MPI_Count>;
}

}  // namespace

void add_sends(Functions& ours) {
  add_sends_of<Mode::kStandard>(ours);
  add_sends_of<Mode::kBuffered>(ours);
  add_sends_of<Mode::kSynchronous>(ours);
  add_sends_of<Mode::kReady>(ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
