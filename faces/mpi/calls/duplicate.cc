// SPDX-License-Identifier: BSD-3-Clause
// duplicate.cc - MPI_Comm_idup. The duplicate of a communicator that is ours has the same
// processes, so it only lacks a context. The leader's broadcast of one begins with the duplication
// and not after it, because then a member might be in the MPI beneath, where nobody could begin it.
#include "beneath/foreign_call.h"
#include "beneath/progress.h"
#include "calls/calls.h"
#include "calls/start.h"
#include "objects/contexts.h"
#include "objects/errors.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

class Duplication final : public RequestPart, private PendingBeneath {
 public:
  Duplication(const Communicator& original, MPI_Comm* out)
      : original_(original), out_(out), context_(original.rank() == 0 ? Contexts::take() : 0) {}

  // begin(request) begins the duplication beneath. Returns an error class.
  template <class Begin>
  int begin(Begin begin) {
    int error = begin(&duplication_);
    if (error == MPI_SUCCESS)
      error = call_beneath(beneath.Ibcast, &context_, static_cast<int>(sizeof context_), MPI_BYTE,
                           0, original_.handle(), &broadcast_);
    if (error == MPI_SUCCESS) add_to_pending();
    return error;
  }

  int start() override { return MPI_ERR_REQUEST; }  // it is not persistent

  bool is_over(int& error) override {
    if (!has_ended()) return false;
    error = error_;
    return true;
  }

 private:
  bool test() override {
    int flags[2] = {};
    error_ = beneath.Test(&duplication_, &flags[0], MPI_STATUS_IGNORE);
    if (error_ == MPI_SUCCESS) error_ = beneath.Test(&broadcast_, &flags[1], MPI_STATUS_IGNORE);
    if (error_ == MPI_SUCCESS && !(flags[0] && flags[1])) return false;
    if (error_ == MPI_SUCCESS) Communicator::adopt_duplicate(*out_, original_, context_);
    return true;
  }

  const Communicator& original_;  // the request holds it
  MPI_Comm* const out_;
  uint32_t context_;
  MPI_Request duplication_ = MPI_REQUEST_NULL, broadcast_ = MPI_REQUEST_NULL;
  int error_ = MPI_SUCCESS;
};

template <class Begin>
int duplicate(MPI_Comm handle, MPI_Comm* out, MPI_Request* request_out, Begin begin) {
  Communicator* const comm = Communicator::find(handle);
  if (comm == nullptr) return begin(request_out);
  Request* const request = Requests::make(RequestKind::kOther, comm);
  if (request == nullptr) return raise(comm, MPI_ERR_NO_MEM);
  auto* const work = new Duplication(*comm, out);
  request->part = work;
  request->is_active = true;
  return hand_out(*comm, request, work->begin(begin), request_out);
}

int idup(MPI_Comm handle, MPI_Comm* out, MPI_Request* request) {
  return duplicate(handle, out, request, [=](MPI_Request* its) {
    return call_beneath(beneath.Comm_idup, handle, out, its);
  });
}

int idup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm* out, MPI_Request* request) {
  return duplicate(handle, out, request, [=](MPI_Request* its) {
    return call_beneath(beneath.Comm_idup_with_info, handle, info, out, its);
  });
}

}  // namespace

void add_duplicates(Functions& ours) {
  ours.Comm_idup = idup;
  ours.Comm_idup_with_info = idup_with_info;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
