// SPDX-License-Identifier: BSD-3-Clause
// buffered.cc - buffered sends, and the memory for them.
#include <cstring>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/send.h"
#include "objects/errors.h"
#include "objects/job.h"
#include "objects/send_buffer.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

int start_buffered(Request& original) {
  nagaya_send& send = original.send;
  SendBuffer::forget_copy(original);
  send.is_complete = 1;
  if (!SendBuffer::has_room(send.bytes)) return MPI_ERR_BUFFER;
  const int at_once = try_to_send(send);
  if (at_once != -EAGAIN) return class_of(at_once);
  Request* const copy = SendBuffer::add_copy(original);
  if (copy == nullptr) return MPI_ERR_BUFFER;
  if (send.runs != nullptr)
    original.type->pack(original.buffer, 0, send.bytes, copy->buffer);
  else if (send.bytes != 0)
    std::memcpy(copy->buffer, send.data, send.bytes);
  copy->send.to = send.to;
  copy->send.envelope = send.envelope;
  copy->send.data = copy->buffer;
  copy->send.bytes = send.bytes;
  const int error = class_of(::nagaya_match_send(&copy->send));
  if (error != MPI_SUCCESS) SendBuffer::remove(copy);
  return error;
}

namespace {

template <class Count>
int attach(void* memory, Count bytes) {
  if (!Job::is_open())
    return of_count<Count>(beneath.Buffer_attach, beneath.Buffer_attach_c)(memory, bytes);
  if (bytes < 0) return raise(nullptr, MPI_ERR_ARG);
  return raise(nullptr, SendBuffer::attach(memory, static_cast<size_t>(bytes)));
}

// `out`: of type void**, as the standard's void* says.
template <class Count>
int detach(void* out, Count* size) {
  void* memory = nullptr;
  size_t bytes = 0;
  if (!Job::is_open() || !SendBuffer::detach(memory, bytes))
    return call_beneath(of_count<Count>(beneath.Buffer_detach, beneath.Buffer_detach_c), out, size);
  *static_cast<void**>(out) = memory;
  *size = static_cast<Count>(bytes);
  return MPI_SUCCESS;
}

}  // namespace

void add_buffer(Functions& ours) {
  ours.Buffer_attach = attach<int>;
  ours.Buffer_attach_c = attach<MPI_Count>;
  ours.Buffer_detach = detach<int>;
  ours.Buffer_detach_c = detach<MPI_Count>;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
