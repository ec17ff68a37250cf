// SPDX-License-Identifier: BSD-3-Clause
// system.h - the processes that grids are made of, and the MPI that the program may have.
//
// A system handle names some of them in their order: a communicator by its Fortran handle, all
// processes of a job without MPI by 0, those of a grid by a number that no MPI has (grid.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faces/blacs/mpi.h"
#include "nagaya/llcl.h"

namespace nagaya::blacs {

using Int = int;

class System {
 public:
  // Of the calling process: the first call initialises MPI, or Nagaya's ranks.
  static System& own();
  // Whether the calls are ours: the process is a task, and has an MPI that we know or none. Asks
  // nobody else.
  static bool is_ours();
  // Whether is_ours(), but the caller is a forked child of that process.
  static bool is_forked_child();

  const nagaya_blacs_mpi* mpi() const { return mpi_; }
  Int world() const { return mpi_ != nullptr ? mpi_->world() : 0; }
  // Of a system handle that is not of a grid. 0 means all processes with any MPI, as with the
  // reference BLACS in C.
  Int communicator_of(Int handle) const { return handle == 0 ? world() : handle; }
  // Threads that the program calls MPI by may move our messages, too. The BLACS are called by one.
  bool has_threads() const { return has_threads_; }
  Int rank() const { return rank_; }
  Int size() const { return size_; }

  // Processes as MPI names them.
  struct Ranks {
    Int communicator;
    std::vector<Int> ranks;  // in it
  };

  // Of a communicator, or all without MPI. Collective among them.
  struct Members {
    std::vector<nagaya_process> processes;
    Int own;               // the caller, among them
    uint32_t next_number;  // the greatest of theirs
    Ranks ranks;           // theirs, in their order
  };
  Members gather(Int handle);
  // A communicator of those processes, which all of them make: `number` is the same at all, and of
  // no other communicator that one of them makes just now. There is an MPI.
  Int new_communicator(const Ranks& of, uint32_t number);
  void free_communicator(Int communicator);

  // Grids have numbers below it.
  uint32_t next_number = 0;

  void finalize();
  // Says `why` in one line and ends the job.
  [[noreturn]] void abort(int code, const std::string& why);

 private:
  System();
  bool is_mpi_on_nagaya() const;
  // In the world's ranks if all `count` processes of the communicator are of this job, else in its
  // own: of processes that MPI_Comm_spawn has started and the world does not have.
  Ranks ranks_in_world(Int comm, Int count) const;
  // From now on our waits move the messages of an MPI that is not on Nagaya.
  void move_messages_of_mpi();
  // Without MPI. A node whose processes have all ended looks like a lost one: so each process waits
  // for all others at its end, whether it has called blacs_exit or not.
  void watch_nodes();

  const nagaya_blacs_mpi* mpi_;
  bool has_threads_ = false;
  Int rank_ = 0, size_ = 1;
  bool is_over_ = false;  // this process has left Nagaya's ranks
};

// Says in one line that a forked child has called a function, and ends the child alone: no exit
// handlers, no MPI.
[[noreturn]] void end_child(std::string_view function);

// One line to stderr, as the BLACS say it.
void warn(const std::string& what);

}  // namespace nagaya::blacs
