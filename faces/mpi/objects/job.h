// SPDX-License-Identifier: BSD-3-Clause
// job.h - whether this process takes part: it is a task, and its MPI has started.
#pragma once

#include "beneath/functions.h"
#include "entry.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Job {
 public:
  // Called once, before any other function.
  static void set_share(Share share) { share_ = share; }
  // Called once MPI_Init or MPI_Init_thread has succeeded beneath. `level`: the provided level of
  // threads.
  static void open(int level);

  static bool is_open() { return is_open_; }
  static bool has_threads() { return has_threads_; }
  // Whether messages and collectives are ours, and not our components'.
  static bool has_messages() { return share_ == Share::kAll; }

 private:
  static bool open_messages();
  static bool is_beside_components();
  static void close();
  static int end_by_attribute(MPI_Comm, int, void*, void*);

  inline static Share share_ = Share::kNothing;
  inline static bool is_open_ = false, has_threads_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
