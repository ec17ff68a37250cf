// SPDX-License-Identifier: BSD-3-Clause
// cancel.cc - MPI_Cancel. A receive ends at once; of a send, the receiver decides, and the send is
// pending until it has answered.
#include "calls/calls.h"
#include "objects/errors.h"
#include "objects/requests.h"
#include "objects/send_buffer.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

void cancel_receive(Request& request) {
  nagaya_receive& receive = request.receive;
  if (::nagaya_match_cancel_receive(&receive) != 0) return;
  request.is_cancelled = true;
  __atomic_store_n(&receive.is_complete, 1, __ATOMIC_RELEASE);  // pairs with Request::is_complete
}

// Asks the receiver of a message that has left at once: it may not have been matched yet.
int cancel_complete(nagaya_send& send) {
  send.answers = 0;
  const int error = ::nagaya_match_cancel_send(&send);
  if (error != 0) send.is_complete = 1;
  return class_of(error);
}

int cancel_send(Request& request) {
  nagaya_send& send = request.send;
  ::nagaya_match_progress();  // its end may have arrived: then nobody is asked
  if (request.mode == Mode::kBuffered && SendBuffer::cancel_copy(request)) return MPI_SUCCESS;
  if (!request.is_complete()) {
    const int error = ::nagaya_match_cancel_send(&send);
    if (error != -EALREADY) return class_of(error);
    await(&send.is_complete);  // another thread is about to complete it
  }
  const bool has_left_at_once =
      request.mode != Mode::kSynchronous && send.bytes <= ::nagaya_match_eager_max(send.to);
  return has_left_at_once && send.error == 0 && send.is_cancelled == 0 ? cancel_complete(send)
                                                                       : MPI_SUCCESS;
}

int cancel(MPI_Request* handle) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return beneath.Cancel(handle);
  if (!request->is_active) return MPI_SUCCESS;
  switch (request->kind) {
    case RequestKind::kReceive:
      cancel_receive(*request);
      return MPI_SUCCESS;
    case RequestKind::kSend:
      return raise(request->communicator, cancel_send(*request));
    case RequestKind::kCollective:
      return raise(request->communicator, MPI_ERR_REQUEST);
    default:
      return MPI_SUCCESS;
  }
}

}  // namespace

void add_cancel(Functions& ours) {
  ours.Cancel = cancel;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
