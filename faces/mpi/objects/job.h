// SPDX-License-Identifier: BSD-3-Clause
// job.h - whether this process takes part: it is a task, and its MPI has started.
#pragma once

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Job {
 public:
  // Called once MPI_Init or MPI_Init_thread has succeeded beneath. `level`: the provided level of
  // threads.
  static void open(int level);

  static bool is_open() { return is_open_; }
  static bool has_threads() { return has_threads_; }

 private:
  static void close();
  static int end_by_attribute(MPI_Comm, int, void*, void*);

  inline static bool is_open_ = false, has_threads_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
