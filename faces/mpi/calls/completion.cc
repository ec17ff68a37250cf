// SPDX-License-Identifier: BSD-3-Clause
// completion.cc - Wait and Test. An array may hold requests of ours and of the MPI beneath.
#include "calls/completion.h"

#include <algorithm>
#include <vector>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

int store_status(const Request& request, MPI_Status* status) {
  switch (request.kind) {
    case RequestKind::kReceive: {
      const nagaya_receive& receive = request.receive;
      if (status != MPI_STATUS_IGNORE)
        set_status(*status, receive.matched.source, receive.matched.tag,
                   std::min(receive.bytes, receive.capacity), request.is_cancelled);
      return class_of(receive.error);
    }
    case RequestKind::kSend:
      if (status != MPI_STATUS_IGNORE)
        set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, request.send.is_cancelled != 0);
      return class_of(request.send.error);
    case RequestKind::kCollective:
      if (status != MPI_STATUS_IGNORE) set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
      return class_of(request.collective.error);
    default:
      if (status != MPI_STATUS_IGNORE)
        set_status(*status, request.peer == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE, MPI_ANY_TAG, 0,
                   request.is_cancelled);
      return request.error;
  }
}

int finish(Request* request, MPI_Request& handle, MPI_Status* status) {
  if (!request->is_active) {
    if (status != MPI_STATUS_IGNORE) set_empty_status(*status);
    return MPI_SUCCESS;
  }
  const int error = store_status(*request, status);
  request->is_active = false;
  if (request->is_persistent) return error;
  Requests::free(request);
  handle = MPI_REQUEST_NULL;
  return error;
}

namespace {

bool is_over(Request* request) { return !request->is_active || request->is_complete(); }

// Raises the error at the communicator of a request, which is free by now.
struct Raiser {
  explicit Raiser(const Request* request) : communicator(request->communicator) {
    if (communicator != nullptr) communicator->hold();
  }
  ~Raiser() {
    if (communicator != nullptr) communicator->release();
  }
  Communicator* communicator;
};

int finish_and_raise(Request* request, MPI_Request& handle, MPI_Status* status) {
  if (store_status(*request, MPI_STATUS_IGNORE) == MPI_SUCCESS) return finish(request, handle, status);
  const Raiser raiser(request);
  return raise(raiser.communicator, finish(request, handle, status));
}

int wait(MPI_Request* handle, MPI_Status* status) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return call_beneath(beneath.Wait, handle, status);
  if (!is_over(request))
    if (const int error = wait_until([request] { return is_over(request); }))
      return raise(request->communicator, error);
  return finish_and_raise(request, *handle, status);
}

int test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return beneath.Test(handle, flag, status);
  if (!is_over(request)) ::nagaya_match_progress();
  *flag = is_over(request);
  return *flag ? finish_and_raise(request, *handle, status) : MPI_SUCCESS;
}

// ---- several -------------------------------------------------------------------------------

// The requests of a call. Those of the MPI beneath are tested one by one, and their statuses kept.
class All {
 public:
  All(int count, MPI_Request* handles) : count_(count), handles_(handles) {
    for (int n = 0; n < count; ++n) {
      const bool ours = Requests::find(handles[n]) != nullptr;
      has_ours_ = has_ours_ || ours;
      has_others_ = has_others_ || (!ours && handles[n] != MPI_REQUEST_NULL);
    }
  }

  bool has_ours() const { return has_ours_; }
  bool has_others() const { return has_others_; }

  bool is_active(int n) const {
    if (const Request* const request = Requests::find(handles_[n])) return request->is_active;
    return handles_[n] != MPI_REQUEST_NULL;
  }
  // Whether request n is complete, inactive or null. Does not change it.
  bool is_over(int n) const {
    if (Request* const request = Requests::find(handles_[n])) return mpi::NAGAYA_MPI_ABI::is_over(request);
    int flag = 1;
    if (handles_[n] != MPI_REQUEST_NULL) beneath.Request_get_status(handles_[n], &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  bool are_all_over() {
    while (first_ < count_ && is_over(first_)) ++first_;
    return first_ == count_;
  }
  // Returns the first active request that is complete; -1: none is; MPI_UNDEFINED: none is active.
  int find_complete() const {
    bool has_active = false;
    for (int n = 0; n < count_; ++n) {
      if (!is_active(n)) continue;
      if (is_over(n)) return n;
      has_active = true;
    }
    return has_active ? -1 : MPI_UNDEFINED;
  }

  // Ends request n, which is over. Returns its error class; nothing is raised.
  int finish(int n, MPI_Status* status) const {
    if (Request* const request = Requests::find(handles_[n]))
      return mpi::NAGAYA_MPI_ABI::finish(request, handles_[n], status);
    if (handles_[n] != MPI_REQUEST_NULL) return beneath.Wait(&handles_[n], status);
    if (status != MPI_STATUS_IGNORE) set_empty_status(*status);
    return MPI_SUCCESS;
  }
  // Of an error of request n, the communicator whose handler gets it.
  Communicator* communicator_of(int n) const {
    const Request* const request = Requests::find(handles_[n]);
    return request != nullptr ? request->communicator : nullptr;
  }

 private:
  const int count_;
  MPI_Request* const handles_;
  bool has_ours_ = false, has_others_ = false;
  int first_ = 0;  // all before it are over
};

MPI_Status* status_at(MPI_Status* statuses, int n) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[n];
}

// Ends `count` complete requests, whose numbers are in `indices` (nullptr: all).
int finish_several(const All& all, int count, const int* indices, MPI_Status* statuses) {
  bool has_failed = false;
  Communicator* communicator = nullptr;
  std::vector<int> errors(static_cast<size_t>(count));
  for (int n = 0; n < count; ++n) {
    const int which = indices != nullptr ? indices[n] : n;
    Communicator* const its = all.communicator_of(which);
    if (its != nullptr) its->hold();
    errors[static_cast<size_t>(n)] = all.finish(which, status_at(statuses, n));
    const bool failed = errors[static_cast<size_t>(n)] != MPI_SUCCESS;
    if (failed && communicator == nullptr && its != nullptr) {
      communicator = its;
    } else if (its != nullptr) {
      its->release();
    }
    has_failed = has_failed || failed;
  }
  if (!has_failed) return MPI_SUCCESS;
  for (int n = 0; statuses != MPI_STATUSES_IGNORE && n < count; ++n)
    statuses[n].MPI_ERROR = errors[static_cast<size_t>(n)];
  const int error = raise(communicator, MPI_ERR_IN_STATUS);
  if (communicator != nullptr) communicator->release();
  return error;
}

int waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  All all(count, handles);
  if (!all.has_ours()) return call_beneath(beneath.Waitall, count, handles, statuses);
  if (!all.are_all_over())
    if (const int error = wait_until([&all] { return all.are_all_over(); })) return raise(nullptr, error);
  return finish_several(all, count, nullptr, statuses);
}

int testall(int count, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  All all(count, handles);
  if (!all.has_ours()) return beneath.Testall(count, handles, flag, statuses);
  if (!all.are_all_over()) ::nagaya_match_progress();
  *flag = all.are_all_over();
  return *flag ? finish_several(all, count, nullptr, statuses) : MPI_SUCCESS;
}

// Ends the request that find_complete() has found.
int finish_one(const All& all, MPI_Request* handles, int which, int* index, MPI_Status* status) {
  *index = which;
  if (which == MPI_UNDEFINED) {
    if (status != MPI_STATUS_IGNORE) set_empty_status(*status);
    return MPI_SUCCESS;
  }
  if (Request* const request = Requests::find(handles[which]))
    return finish_and_raise(request, handles[which], status);
  return all.finish(which, status);
}

int waitany(int count, MPI_Request* handles, int* index, MPI_Status* status) {
  const All all(count, handles);
  if (!all.has_ours()) return call_beneath(beneath.Waitany, count, handles, index, status);
  int which = all.find_complete();
  if (which == -1)
    if (const int error = wait_until([&] { return (which = all.find_complete()) != -1; }))
      return raise(nullptr, error);
  return finish_one(all, handles, which, index, status);
}

int testany(int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  const All all(count, handles);
  if (!all.has_ours()) return beneath.Testany(count, handles, index, flag, status);
  int which = all.find_complete();
  if (which == -1) {
    ::nagaya_match_progress();
    which = all.find_complete();
  }
  *flag = which != -1;
  if (*flag) return finish_one(all, handles, which, index, status);
  *index = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

// Ends all active requests that are complete. Returns false if there is none, and others are active.
bool finish_some(const All& all, int count, int* done, int* indices, MPI_Status* statuses, int& error) {
  int found = 0;
  bool has_active = false;
  for (int n = 0; n < count; ++n) {
    if (!all.is_active(n)) continue;
    has_active = true;
    if (all.is_over(n)) indices[found++] = n;
  }
  *done = has_active ? found : MPI_UNDEFINED;
  error = found != 0 ? finish_several(all, found, indices, statuses) : MPI_SUCCESS;
  return found != 0 || !has_active;
}

int waitsome(int count, MPI_Request* handles, int* done, int* indices, MPI_Status* statuses) {
  const All all(count, handles);
  if (!all.has_ours()) return call_beneath(beneath.Waitsome, count, handles, done, indices, statuses);
  int error = MPI_SUCCESS;
  if (finish_some(all, count, done, indices, statuses, error)) return error;
  if (const int failed = wait_until([&all] { return all.find_complete() != -1; })) return raise(nullptr, failed);
  finish_some(all, count, done, indices, statuses, error);
  return error;
}

int testsome(int count, MPI_Request* handles, int* done, int* indices, MPI_Status* statuses) {
  const All all(count, handles);
  if (!all.has_ours()) return beneath.Testsome(count, handles, done, indices, statuses);
  int error = MPI_SUCCESS;
  if (finish_some(all, count, done, indices, statuses, error)) return error;
  ::nagaya_match_progress();
  finish_some(all, count, done, indices, statuses, error);
  return error;
}

// ---- without an end -------------------------------------------------------------------------

int get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* const request = Requests::find(handle);
  if (request == nullptr) return beneath.Request_get_status(handle, flag, status);
  if (!is_over(request)) ::nagaya_match_progress();
  *flag = is_over(request);
  if (!*flag) return MPI_SUCCESS;
  if (request->is_active) return raise(request->communicator, store_status(*request, status));
  if (status != MPI_STATUS_IGNORE) set_empty_status(*status);
  return MPI_SUCCESS;
}

int free_request(MPI_Request* handle) {
  Request* const request = Requests::find(*handle);
  if (request == nullptr) return beneath.Request_free(handle);
  *handle = MPI_REQUEST_NULL;
  Requests::free_ended_orphans();
  if (is_over(request))
    Requests::free(request);
  else
    Requests::abandon(request);
  return MPI_SUCCESS;
}

}  // namespace

void add_completion(Functions& ours) {
  ours.Wait = wait;
  ours.Waitany = waitany;
  ours.Waitall = waitall;
  ours.Waitsome = waitsome;
  ours.Test = test;
  ours.Testany = testany;
  ours.Testall = testall;
  ours.Testsome = testsome;
  ours.Request_get_status = get_status;
  ours.Request_free = free_request;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
