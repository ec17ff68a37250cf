// SPDX-License-Identifier: BSD-3-Clause
// results.h - the results of a call that ends several requests: statuses, and one error.
//
// MPI_ERROR of a status is changed only if a request has failed (MPI_ERR_IN_STATUS): then every
// status of the call tells whether its request has.
#pragma once

#include "calls/completion.h"
#include "calls/others.h"
#include "objects/errors.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Results {
 public:
  // `count` of `statuses`, which may be MPI_STATUSES_IGNORE.
  Results(int count, MPI_Status* statuses)
      : count_(count), statuses_(statuses != MPI_STATUSES_IGNORE ? statuses : nullptr) {}
  ~Results() {
    if (communicator_ != nullptr) communicator_->release();
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  MPI_Status* status(int n) const {
    return statuses_ != nullptr ? &statuses_[n] : MPI_STATUS_IGNORE;
  }

  // Ends a request of ours, which is over, with status n.
  void end(int n, Request* request, MPI_Request& handle) {
    if (request->is_active && store_status(*request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      fail(request->communicator);
    const int error = finish(request, handle, status(n));
    if (has_failed_ && statuses_ != nullptr) statuses_[n].MPI_ERROR = error;
  }

  // Stores the status of the request that `others` has ended as its k-th, as status n.
  void store(int n, const Others& others, int k) {
    const MPI_Status& from = others.status(k);
    if (from.MPI_ERROR != MPI_SUCCESS) fail(nullptr);
    if (statuses_ == nullptr) return;
    const int error = has_failed_ ? from.MPI_ERROR : statuses_[n].MPI_ERROR;
    statuses_[n] = from;
    statuses_[n].MPI_ERROR = error;
  }

  // Raises the error, if any, at the communicator of the first request of ours that has failed.
  // Returns it.
  int raise() const {
    if (!has_failed_) return MPI_SUCCESS;
    return communicator_ != nullptr ? mpi::NAGAYA_MPI_ABI::raise(communicator_, MPI_ERR_IN_STATUS)
                                    : MPI_ERR_IN_STATUS;
  }

 private:
  void fail(Communicator* communicator) {
    for (int n = 0; !has_failed_ && statuses_ != nullptr && n < count_; ++n)
      statuses_[n].MPI_ERROR = MPI_SUCCESS;
    has_failed_ = true;
    if (communicator_ != nullptr || communicator == nullptr) return;
    communicator_ = communicator;
    communicator_->hold();
  }

  const int count_;
  MPI_Status* const statuses_;
  bool has_failed_ = false;
  Communicator* communicator_ = nullptr;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
