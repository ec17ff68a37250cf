// SPDX-License-Identifier: BSD-3-Clause
// errors.h - errors of our functions: class of MPI, told by the communicator's error handler.
#pragma once

#include <cerrno>

#include "objects/communicator.h"
#include "objects/report.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// The class for an error of our floors.
inline int class_of(int error) {
  switch (error) {
    case 0:
      return MPI_SUCCESS;
    case -EMSGSIZE:
      return MPI_ERR_TRUNCATE;
    case -ENOMEM:
    case -ENOBUFS:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_OTHER;
  }
}

// Calls the error handler if there is an error, and returns it if the handler does.
inline int raise(const Communicator* communicator, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  const MPI_Comm handle = communicator != nullptr ? communicator->handle() : MPI_COMM_WORLD;
  tell_of_failure(handle);
  beneath.Comm_call_errhandler(handle, error_class);
  return error_class;
}

// Keeps a communicator whose request ends before its error is raised.
class Holder {
 public:
  explicit Holder(Communicator* communicator) : communicator_(communicator) {
    if (communicator_ != nullptr) communicator_->hold();
  }
  ~Holder() {
    if (communicator_ != nullptr) communicator_->release();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  Communicator* communicator() const { return communicator_; }

 private:
  Communicator* const communicator_;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
