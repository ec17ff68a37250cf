// SPDX-License-Identifier: BSD-3-Clause
// others.h - the requests of the MPI beneath in an array that holds requests of ours, too.
//
// They are tested together, by a copy of their handles. So a request that advances only if it is
// tested (MPI_File_iread of ROMIO) advances, and MPI_Testall of the MPI beneath ends all or none.
#pragma once

#include <vector>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Others {
 public:
  // `are_there` false: there are none, and nothing is allocated.
  Others(bool are_there, int count, MPI_Request* handles);

  bool is_empty() const { return handles_.empty(); }

  // Lets the MPI beneath make progress, and changes no request.
  void advance() const;
  // End requests that are complete, as MPI_Testall and so on do, and change the array's handles.
  // Return true if they have ended any, or have got an error; test_all() also if there are none.
  bool test_all();
  bool test_any();
  bool test_some();

  // Whether any of them is active, as far as the tests have found.
  bool are_active() const { return are_active_; }

  // The requests that the tests have ended: how many, and the place and status of each. MPI_ERROR
  // of the status is set.
  int ended() const { return static_cast<int>(ended_.size()); }
  int place(int n) const { return ended_[static_cast<size_t>(n)].place; }
  const MPI_Status& status(int n) const { return ended_[static_cast<size_t>(n)].status; }
  bool has_ended(int place) const;
  // The last error of the tests. The MPI beneath has called the error handler.
  int error() const { return error_; }
  bool has_failed_whole() const { return error_ != MPI_SUCCESS && error_ != MPI_ERR_IN_STATUS; }

 private:
  struct Ended {
    int place;
    MPI_Status status;
  };

  int count() const { return static_cast<int>(handles_.size()); }
  // Ends a test that has ended the first so many of `indices_`. Returns whether anything has
  // changed.
  bool finish_test(int error, int ended);

  MPI_Request* const array_;
  std::vector<MPI_Request> handles_;
  std::vector<int> places_;  // of `handles_` in the array
  std::vector<Ended> ended_;
  std::vector<int> indices_;  // of the last test: in `handles_`
  std::vector<MPI_Status> statuses_;
  int error_ = MPI_SUCCESS;
  bool are_active_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
