// SPDX-License-Identifier: BSD-3-Clause
// probe.cc - the probes, and the receives of the messages that matched probes have taken.
//
// A message is a request of the kind kMessage. MPI_MESSAGE_NO_PROC is the MPI's beneath in every
// function.
#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/check.h"
#include "calls/receive.h"
#include "calls/start.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

void store(const nagaya_message_description& found, MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE)
    set_status(*status, found.envelope.source, found.envelope.tag, found.bytes, false);
}

void store_nobody(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) set_status_of_nobody(*status);
}

// Polls for a message by find(), which returns -EAGAIN if there is none; once more after progress.
template <class Find>
int find_now(Find find, int* flag) {
  int error = find();
  if (error == -EAGAIN) {
    ::nagaya_match_progress();
    error = find();
  }
  *flag = error == 0;
  return error == -EAGAIN ? MPI_SUCCESS : class_of(error);
}

template <class Find>
int find_and_wait(Find find) {
  int error = find();
  if (error == -EAGAIN)
    if (const int failed = wait_until([&] { return (error = find()) != -EAGAIN; })) return failed;
  return class_of(error);
}

int iprobe(int from, int tag, MPI_Comm handle, int* flag, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) return poll_beneath(beneath.Iprobe, from, tag, handle, flag, status);
  if (const int error = check_probe(*comm, from, tag)) return raise(comm, error);
  if (from == MPI_PROC_NULL) {
    *flag = 1;
    store_nobody(status);
    return MPI_SUCCESS;
  }
  const nagaya_envelope wanted = wanted_by(*comm, from, tag);
  nagaya_message_description found{};
  const int error = find_now([&] { return ::nagaya_match_probe(&wanted, &found); }, flag);
  if (*flag) store(found, status);
  return raise(comm, error);
}

int probe(int from, int tag, MPI_Comm handle, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) return call_beneath(beneath.Probe, from, tag, handle, status);
  if (const int error = check_probe(*comm, from, tag)) return raise(comm, error);
  if (from == MPI_PROC_NULL) {
    store_nobody(status);
    return MPI_SUCCESS;
  }
  const nagaya_envelope wanted = wanted_by(*comm, from, tag);
  nagaya_message_description found{};
  const int error = find_and_wait([&] { return ::nagaya_match_probe(&wanted, &found); });
  if (error == MPI_SUCCESS) store(found, status);
  return raise(comm, error);
}

// Makes the request that will be the message, which `take` gives it: a function of the probe that
// returns an error class, with `found` if it has a message.
template <class Take>
int take_message(Communicator& comm, MPI_Message* out, MPI_Status* status, Take take) {
  Request* const request = Requests::make(RequestKind::kMessage, &comm);
  if (request == nullptr) return raise(&comm, MPI_ERR_NO_MEM);
  *out = MPI_MESSAGE_NULL;
  const int error = take(request->probed.description, request->probed.message);
  if (request->probed.message == nullptr) {
    Requests::free(request);
    return raise(&comm, error);
  }
  store(request->probed.description, status);
  *out = Requests::message_of(request);
  return MPI_SUCCESS;
}

int take_nobody(MPI_Message* out, MPI_Status* status) {
  *out = MPI_MESSAGE_NO_PROC;
  store_nobody(status);
  return MPI_SUCCESS;
}

int improbe(int from, int tag, MPI_Comm handle, int* flag, MPI_Message* out, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) return poll_beneath(beneath.Improbe, from, tag, handle, flag, out, status);
  if (const int error = check_probe(*comm, from, tag)) return raise(comm, error);
  *flag = 1;
  if (from == MPI_PROC_NULL) return take_nobody(out, status);
  const nagaya_envelope wanted = wanted_by(*comm, from, tag);
  return take_message(
      *comm, out, status, [&](nagaya_message_description& found, nagaya_message*& taken) {
        return find_now([&] { return ::nagaya_match_take(&wanted, &found, &taken); }, flag);
      });
}

int mprobe(int from, int tag, MPI_Comm handle, MPI_Message* out, MPI_Status* status) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) return call_beneath(beneath.Mprobe, from, tag, handle, out, status);
  if (const int error = check_probe(*comm, from, tag)) return raise(comm, error);
  if (from == MPI_PROC_NULL) return take_nobody(out, status);
  const nagaya_envelope wanted = wanted_by(*comm, from, tag);
  return take_message(
      *comm, out, status, [&](nagaya_message_description& found, nagaya_message*& taken) {
        return find_and_wait([&] { return ::nagaya_match_take(&wanted, &found, &taken); });
      });
}

// ---- matched receives -----------------------------------------------------------------------

Request* find_message(MPI_Message handle) {
  Request* const request = Requests::find(handle);
  return request != nullptr && request->kind == RequestKind::kMessage ? request : nullptr;
}

// Starts the receive of a message, whose handle ends with that. Returns an error class.
int start_matched(Request* message, void* buffer, long long count, MPI_Datatype type,
                  MPI_Message* handle, Request*& receive) {
  if (count < 0) return MPI_ERR_COUNT;
  const nagaya_envelope& envelope = message->probed.description.envelope;
  int error = make_receive(*message->communicator, buffer, static_cast<size_t>(count), type,
                           envelope.source, envelope.tag, receive);
  if (error == MPI_SUCCESS) error = start_receive(*receive, message->probed.message);
  if (error != MPI_SUCCESS) return error;
  Requests::free(message);
  *handle = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

template <class Count>
int imrecv(void* buffer, Count count, MPI_Datatype type, MPI_Message* handle, MPI_Request* out) {
  Request* const message = find_message(*handle);
  if (message == nullptr)
    return call_beneath(of_count<Count>(beneath.Imrecv, beneath.Imrecv_c), buffer, count, type,
                        handle, out);
  Communicator& comm = *message->communicator;
  Request* receive = nullptr;
  const int error = start_matched(message, buffer, count, type, handle, receive);
  return hand_out(comm, receive, error, out);
}

template <class Count>
int mrecv(void* buffer, Count count, MPI_Datatype type, MPI_Message* handle, MPI_Status* status) {
  Request* const message = find_message(*handle);
  if (message == nullptr)
    return call_beneath(of_count<Count>(beneath.Mrecv, beneath.Mrecv_c), buffer, count, type,
                        handle, status);
  const Holder comm(message->communicator);
  Request* receive = nullptr;
  int error = start_matched(message, buffer, count, type, handle, receive);
  if (error == MPI_SUCCESS)
    error = finish_receive(receive, status);
  else if (receive != nullptr)
    Requests::free(receive);
  return raise(comm.communicator(), error);
}

}  // namespace

void add_probes(Functions& ours) {
  ours.Probe = probe;
  ours.Iprobe = iprobe;
  ours.Mprobe = mprobe;
  ours.Improbe = improbe;
  ours.Mrecv = mrecv<int>;
  ours.Mrecv_c = mrecv<MPI_Count>;
  ours.Imrecv = imrecv<int>;
  ours.Imrecv_c = imrecv<MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
