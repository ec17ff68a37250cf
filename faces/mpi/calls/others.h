// SPDX-License-Identifier: BSD-3-Clause
// others.h - the requests of the MPI beneath in an array that holds requests of ours, too.
//
// They are tested together, by a copy of their handles: so a Testall of the MPI beneath ends either
// all or none, and what advances only if it is tested (MPI_File_iread of ROMIO) advances.
#pragma once

#include <vector>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Others {
 public:
  // `are_there` false: there are none, and nothing is allocated.
  Others(bool are_there, int count, MPI_Request* handles);

  bool is_empty() const { return handles_.empty(); }
  // Whether the handle in this place of the array was one of them.
  bool has(int place) const;

  // Lets the MPI beneath make progress, and changes no request.
  void advance() const;
  // End requests that are complete, as MPI_Testall and so on do, and change the array's handles.
  // Return true if they have ended any, or have got an error; test_all() also if there are none.
  bool test_all();
  bool test_any();
  bool test_some();

  // Of the last test: the requests that it has ended.
  int ended() const { return ended_; }
  int place(int n) const { return places_[static_cast<size_t>(indices_[static_cast<size_t>(n)])]; }
  const MPI_Status& status(int n) const { return statuses_[static_cast<size_t>(n)]; }
  // Its result. The MPI beneath has called the error handler.
  int error() const { return error_; }
  // Whether any of them is active, as far as test_any() and test_some() have found.
  bool are_active() const { return are_active_; }

 private:
  int count() const { return static_cast<int>(handles_.size()); }
  bool end(int ended);

  MPI_Request* const array_;
  std::vector<MPI_Request> handles_;
  std::vector<int> places_;   // of `handles_` in the array
  std::vector<int> indices_;  // in `handles_`, of those that have ended
  std::vector<MPI_Status> statuses_;
  int ended_ = 0, error_ = MPI_SUCCESS;
  bool are_active_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
