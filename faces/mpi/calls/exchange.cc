// SPDX-License-Identifier: BSD-3-Clause
// exchange.cc - MPI_Sendrecv and its like: a send and a receive at once.
#include <cstdlib>
#include <utility>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "calls/receive.h"
#include "calls/send.h"
#include "calls/start.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// The send or the receive of an exchange, as its call names it.
struct Side {
  void* buffer;
  long long count;
  MPI_Datatype type;
  int peer, tag;
};

Side sends(const void* buffer, long long count, MPI_Datatype type, int to, int tag) {
  return {const_cast<void*>(buffer), count, type, to, tag};
}

int check(const Communicator& comm, const Side& send, const Side& receive) {
  const int error = check_send(comm, send.count, send.peer, send.tag);
  return error != MPI_SUCCESS ? error
                              : check_receive(comm, receive.count, receive.peer, receive.tag);
}

// Withdraws a receive whose exchange has failed.
void give_up(Request* receive) {
  if (receive->kind == RequestKind::kReceive &&
      ::nagaya_match_cancel_receive(&receive->receive) != 0)
    await(&receive->receive.is_complete);
  Requests::free(receive);
}

int start_to_receive(Communicator& comm, const Side& side, Request*& out) {
  int error = make_receive(comm, side.buffer, static_cast<size_t>(side.count), side.type, side.peer,
                           side.tag, out);
  if (error == MPI_SUCCESS) error = start_receive(*out);
  if (error != MPI_SUCCESS && out != nullptr) Requests::free(std::exchange(out, nullptr));
  return error;
}

// Returns an error class.
int exchange(Communicator& comm, const Side& send, const Side& receive, MPI_Status* status) {
  Request* started = nullptr;
  if (const int error = start_to_receive(comm, receive, started)) return error;
  if (send.peer != MPI_PROC_NULL) {
    const int error =
        send_and_wait(Mode::kStandard, comm, send.buffer, static_cast<size_t>(send.count),
                      send.type, send.peer, send.tag);
    if (error != MPI_SUCCESS) {
      give_up(started);
      return error;
    }
  }
  return finish_receive(started, status);
}

// A copy of the data to send, whose place the receive has.
class Copy {
 public:
  // Changes `send` to send the copy.
  explicit Copy(Side& send)
      : error_(copy_data(send.buffer, static_cast<size_t>(send.count), send.type, data, bytes_)) {
    send.buffer = data;
    send.count = static_cast<long long>(bytes_);
    send.type = MPI_BYTE;
  }
  ~Copy() { std::free(data); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  int error() const { return error_; }

  void* data = nullptr;  // nullptr: a request has it

 private:
  size_t bytes_ = 0;
  int error_;
};

// Starts the request of both. `copy`: of the data to send, which the request then has; else
// nullptr. Returns an error class; the caller frees `out` then, too.
int start_exchange(Communicator& comm, const Side& send, const Side& receive, void*& copy,
                   Request*& out) {
  out = Requests::make(RequestKind::kExchange, &comm);
  if (out == nullptr) return MPI_ERR_NO_MEM;
  auto& [sent, received] = out->exchange;
  int error = make_send(Mode::kStandard, comm, send.buffer, static_cast<size_t>(send.count),
                        send.type, send.peer, send.tag, sent);
  if (error == MPI_SUCCESS) {
    sent->packed = std::exchange(copy, nullptr);
    error = start_to_receive(comm, receive, received);
  }
  if (error == MPI_SUCCESS) {
    error = start_send(*sent);
    if (error != MPI_SUCCESS) give_up(std::exchange(received, nullptr));
  }
  out->is_active = error == MPI_SUCCESS;
  return error;
}

template <class Count>
int sendrecv(const void* data, Count count, MPI_Datatype type, int to, int tag, void* buffer,
             Count room, MPI_Datatype room_type, int from, int room_tag, MPI_Comm handle,
             MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Sendrecv, beneath.Sendrecv_c), data, count, type,
                        to, tag, buffer, room, room_type, from, room_tag, handle, status);
  const Side send = sends(data, count, type, to, tag),
             receive{buffer, room, room_type, from, room_tag};
  int error = check(*comm, send, receive);
  if (error == MPI_SUCCESS) error = exchange(*comm, send, receive, status);
  return raise(comm, error);
}

template <class Count>
int isendrecv(const void* data, Count count, MPI_Datatype type, int to, int tag, void* buffer,
              Count room, MPI_Datatype room_type, int from, int room_tag, MPI_Comm handle,
              MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Isendrecv, beneath.Isendrecv_c), data, count, type,
                        to, tag, buffer, room, room_type, from, room_tag, handle, out);
  const Side send = sends(data, count, type, to, tag),
             receive{buffer, room, room_type, from, room_tag};
  Request* request = nullptr;
  void* no_copy = nullptr;
  int error = check(*comm, send, receive);
  if (error == MPI_SUCCESS) error = start_exchange(*comm, send, receive, no_copy, request);
  return hand_out(*comm, request, error, out);
}

template <class Count>
int sendrecv_replace(void* buffer, Count count, MPI_Datatype type, int to, int tag, int from,
                     int room_tag, MPI_Comm handle, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Sendrecv_replace, beneath.Sendrecv_replace_c),
                        buffer, count, type, to, tag, from, room_tag, handle, status);
  Side send{buffer, count, type, to, tag};
  const Side receive{buffer, count, type, from, room_tag};
  if (const int error = check(*comm, send, receive)) return raise(comm, error);
  const Copy copy(send);
  return raise(comm,
               copy.error() != MPI_SUCCESS ? copy.error() : exchange(*comm, send, receive, status));
}

template <class Count>
int isendrecv_replace(void* buffer, Count count, MPI_Datatype type, int to, int tag, int from,
                      int room_tag, MPI_Comm handle, MPI_Request* out) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr)
    return call_beneath(of_count<Count>(beneath.Isendrecv_replace, beneath.Isendrecv_replace_c),
                        buffer, count, type, to, tag, from, room_tag, handle, out);
  Side send{buffer, count, type, to, tag};
  const Side receive{buffer, count, type, from, room_tag};
  if (const int error = check(*comm, send, receive)) return raise(comm, error);
  Copy copy(send);
  Request* request = nullptr;
  int error = copy.error();
  if (error == MPI_SUCCESS) error = start_exchange(*comm, send, receive, copy.data, request);
  return hand_out(*comm, request, error, out);
}

}  // namespace

void add_exchanges(Functions& ours) {
  ours.Sendrecv = sendrecv<int>;
  ours.Sendrecv_c = sendrecv<MPI_Count>;
  ours.Isendrecv = isendrecv<int>;
  ours.Isendrecv_c = isendrecv<MPI_Count>;
  ours.Sendrecv_replace = sendrecv_replace<int>;
  ours.Sendrecv_replace_c = sendrecv_replace<MPI_Count>;
  ours.Isendrecv_replace = isendrecv_replace<int>;
  ours.Isendrecv_replace_c = isendrecv_replace<MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
