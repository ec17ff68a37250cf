// SPDX-License-Identifier: BSD-3-Clause
// completion.cc - Wait and Test of one request, and its end without one.
#include "calls/completion.h"

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/receive.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// Whether the message ends within an element of the derived type that it was received with.
bool ends_within_element(const Request& request) {
  size_t bytes = 0;
  if (request.type == nullptr || !is_basic(request.type->elementary(), bytes)) return false;
  return request.receive.bytes % bytes != 0;
}

int store_status_of_receive(const Request& request, MPI_Status* status) {
  int error = class_of(request.receive.error);
  if (kChecksData && error == MPI_SUCCESS && ends_within_element(request)) error = MPI_ERR_TYPE;
  if (status == MPI_STATUS_IGNORE) return error;
  if (request.is_cancelled)
    set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
  else
    set_status_of(request.receive, *status);
  return error;
}

int store_status_without_message(MPI_Status* status, bool is_cancelled, int error_class) {
  if (status != MPI_STATUS_IGNORE)
    set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, is_cancelled);
  return error_class;
}

}  // namespace

void fail_receive(Request& request) {
  const bool is_pending = request.kind == RequestKind::kReceive && !is_over(request);
  if (!is_pending || ::nagaya_match_cancel_receive(&request.receive) != 0) return;
  request.receive.error = -ENOMEM;
  __atomic_store_n(&request.receive.is_complete, 1,
                   __ATOMIC_RELEASE);  // pairs with Request::is_complete
}

int store_status(const Request& request, MPI_Status* status) {
  switch (request.kind) {
    case RequestKind::kReceive:
      return store_status_of_receive(request, status);
    case RequestKind::kSend:
      return store_status_without_message(status, request.send.is_cancelled != 0,
                                          class_of(request.send.error));
    case RequestKind::kExchange: {
      const int error = store_status(*request.exchange.receive, status);
      return error != MPI_SUCCESS ? error : store_status(*request.exchange.send, MPI_STATUS_IGNORE);
    }
    case RequestKind::kCollective:
      return store_status_without_message(status, false, class_of(request.collective.error));
    default:
      if (request.peer != MPI_PROC_NULL)
        return store_status_without_message(status, request.is_cancelled, request.error);
      if (status != MPI_STATUS_IGNORE) set_status_of_nobody(*status);
      return MPI_SUCCESS;
  }
}

int finish(Request* request, MPI_Request& handle, MPI_Status* status) {
  if (!request->is_active) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  const int error = store_status(*request, status);
  request->is_active = false;
  if (request->is_persistent) return error;
  Requests::free(request);
  handle = MPI_REQUEST_NULL;
  return error;
}

int finish_and_raise(Request* request, MPI_Request& handle, MPI_Status* status) {
  if (store_status(*request, MPI_STATUS_IGNORE) == MPI_SUCCESS) [[likely]]
    return finish(request, handle, status);
  const Holder holder(request->communicator);
  return raise(holder.communicator(), finish(request, handle, status));
}

namespace {

int wait(MPI_Request* handle, MPI_Status* status) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return call_beneath(beneath.Wait, handle, status);
  const auto poll = [request] { return is_over(*request); };
  if (!poll() && wait_until(poll) != MPI_SUCCESS) {
    fail_receive(*request);
    wait_without_memory(poll);
  }
  return finish_and_raise(request, *handle, status);
}

// Whether the request is over, now or after progress.
bool test_now(Request& request) {
  if (is_over(request)) return true;
  ::nagaya_match_progress();
  return is_over(request);
}

int test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return poll_beneath(beneath.Test, handle, flag, status);
  *flag = test_now(*request);
  return *flag ? finish_and_raise(request, *handle, status) : MPI_SUCCESS;
}

int free_request(MPI_Request* handle) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return beneath.Request_free(handle);
  *handle = MPI_REQUEST_NULL;
  Requests::free_ended_orphans();
  if (is_over(*request))
    Requests::free(request);
  else
    Requests::abandon(request);
  return MPI_SUCCESS;
}

}  // namespace

int get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* const request = Requests::find(handle);
  if (request == nullptr) return poll_beneath(beneath.Request_get_status, handle, flag, status);
  *flag = test_now(*request);
  if (!*flag) return MPI_SUCCESS;
  if (request->is_active) return raise(request->communicator, store_status(*request, status));
  set_empty_status(status);
  return MPI_SUCCESS;
}

void add_completion(Functions& ours) {
  ours.Wait = wait;
  ours.Test = test;
  ours.Request_get_status = get_status;
  ours.Request_free = free_request;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
